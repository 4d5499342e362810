// Elementwise ops and expressions.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "backends/cpu/kernels/elementwise_tiles.h"
#include "backends/cpu/kernels/expression_operands.h"
#include "backends/cpu/kernels/kernel_families.h"
#include "backends/cpu/kernels/quantized_results.h"
#include "backends/cpu/runtime/parts.h"
#include "backends/cpu/simd/table.h"
#include "fuselage/backends/cpu/runtime/make_kernel.h"
#include "fuselage/backends/cpu/runtime/operands.h"
#include "fuselage/backends/plan/refusals.h"
#include "fuselage/base/error.h"
#include "fuselage/ops/arithmetic/pointwise.h"
#include "fuselage/ops/fused/chains.h"
#include "ops/fused/elementwise_expression.h"

namespace fuselage::cpu {
namespace {

// --- Single ops ---

/// The vector function of a node's op; an op without one in elementwise_tiles.cpp is an internal
/// error.
template <typename Function>
Function function_of(std::optional<Function> function, const Node& node) {
  if (!function)
    throw InternalError(fmt::format("internal error: {} has no vector function", node.op->name));
  return *function;
}

class UnaryKernel final : public Kernel {
 public:
  UnaryKernel(const PlannedInstruction&, const Binding& binding)
      : op_(function_of(unary_named(binding.node.op->name), binding.node)) {}

  void run(const PlannedInstruction& in, const Run& run) const override {
    run.kernels.unary(op_, rows_in(in, run, 0), rows_of(in, run), cols_of(in), rows_out(in, run));
  }

 private:
  Unary op_;
};

class BinaryKernel final : public Kernel {
 public:
  BinaryKernel(const PlannedInstruction&, const Binding& binding)
      : op_(function_of(binary_named(binding.node.op->name), binding.node)) {}

  void run(const PlannedInstruction& in, const Run& run) const override {
    run.kernels.binary(op_, rows_in(in, run, 0), rows_in(in, run, 1), rows_of(in, run), cols_of(in),
                       rows_out(in, run));
  }

 private:
  Binary op_;
};

// --- Expressions ---

class Pointwise final : public Kernel {
 public:
  Pointwise(const PlannedInstruction& in, const Binding& binding)
      : tiles_(expression_of(binding.node), scalar_operands(in, 0)), quantized_(in, binding) {}

  void run(const PlannedInstruction& in, const Run& run) const override {
    // A step counts as many multiply-adds as an exponential.
    constexpr std::size_t kWorkOfAStep = 8;
    const std::size_t rows = rows_of(in, run);
    in_parts(run, rows, rows * cols_of(in) * tiles_.step_count() * kWorkOfAStep,
             [&](std::size_t first, std::size_t last) { run_rows(in, run, first, last); });
  }

 private:
  void run_rows(const PlannedInstruction& in, const Run& run, std::size_t first,
                std::size_t last) const {
    std::array<RowsIn, kMaxExpressionOperands> operands;
    std::array<RowsOut, kMaxExpressionResults> all, results;
    for (std::size_t i = 0; i < in.operands.size(); ++i)
      operands[i] = rows_from(rows_in(in, run, i), first);
    for (std::size_t i = 0; i < tiles_.result_count(); ++i) all[i] = rows_out(in, run, i);
    // A block of 8 rows is still in the L1 cache when it is quantized.
    const std::size_t step = quantized_.empty() ? last - first : 8;
    for (std::size_t r = first; r < last; r += step) {
      const std::size_t n = std::min(step, last - r);
      for (std::size_t i = 0; i < tiles_.result_count(); ++i)
        results[i] = {all[i].data + quantized_.place(i, first, r) * all[i].stride, all[i].stride};
      tiles_.run(operands.data(), n, cols_of(in), results.data());
      quantized_.quantize_block(in, run, first, r, r + n);
      for (std::size_t i = 0; i < in.operands.size(); ++i) operands[i] = rows_from(operands[i], n);
    }
  }

  ElementwiseTiles tiles_;
  QuantizedResults quantized_;
};

std::string refuse_pointwise(const Graph& graph, const Node& node) {
  return refuse_expression(graph, node, node.operands.size());
}

// --- Entries ---

using enum Reads;

template <OpStruct Op>
constexpr KernelEntry unary() {
  return {{.op = Op::kName, .name = "unary", .reads = {view}}, make_kernel<UnaryKernel>};
}

template <OpStruct Op>
constexpr KernelEntry binary() {
  return {{.op = Op::kName, .name = "binary", .reads = {view, view}}, make_kernel<BinaryKernel>};
}

}  // namespace

std::span<const KernelEntry> elementwise_kernels() {
  static constexpr KernelEntry kKernels[] = {
      binary<op::Add>(),
      binary<op::Sub>(),
      binary<op::Mul>(),
      binary<op::Div>(),
      binary<op::Max>(),
      binary<op::Min>(),
      binary<op::Equal>(),
      binary<op::NotEqual>(),
      binary<op::Less>(),
      binary<op::LessEqual>(),
      binary<op::Greater>(),
      binary<op::GreaterEqual>(),
      unary<op::Neg>(),
      unary<op::Sigmoid>(),
      unary<op::Tanh>(),
      unary<op::SigmoidFast>(),
      unary<op::TanhFast>(),
      unary<op::SigmoidTable>(),
      unary<op::TanhTable>(),
      unary<op::Relu>(),
      unary<op::Swish>(),
      unary<op::Gelu>(),
      unary<op::Exp>(),
      unary<op::Log>(),
      unary<op::Sqrt>(),
      unary<op::Abs>(),
      {{.op = op::Pointwise::kName,
        .name = "elements",
        .reads = all_operands(view),
        .refuse = refuse_pointwise,
        .quantizes = true},
       make_kernel<Pointwise>},
  };
  return kKernels;
}

}  // namespace fuselage::cpu
