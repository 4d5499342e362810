// Elementwise ops and expressions, alone or after a product.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "backends/cpu/kernels/elementwise_tiles.h"
#include "backends/cpu/kernels/kernel_families.h"
#include "backends/cpu/kernels/product_operands.h"
#include "backends/cpu/kernels/quantized_results.h"
#include "backends/cpu/runtime/parts.h"
#include "backends/cpu/runtime/weight_operands.h"
#include "backends/cpu/simd/table.h"
#include "fuselage/backends/cpu/runtime/make_kernel.h"
#include "fuselage/backends/cpu/runtime/operands.h"
#include "fuselage/backends/plan/refusals.h"
#include "fuselage/base/error.h"
#include "fuselage/ops/fused.h"
#include "fuselage/ops/pointwise.h"
#include "ops/elementwise_expression.h"

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

ElementwiseExpression expression_of(const Node& node) {
  return parse_expression(node.as<op::Expression>().expression);
}

/// The reason why a node's expression cannot run; operand `matrix` is not part of the expression.
std::string refuse_expression(const Graph& graph, const Node& node, std::size_t matrix) {
  if (std::string reason = refuse_elements(graph, node, matrix); !reason.empty()) return reason;
  return ElementwiseTiles::refuse(expression_of(node));
}

/// `first`: the node operand that is x0; for a linear node, the position of the product.
ElementwiseTiles make_tiles(const PlannedInstruction& in, const Binding& binding,
                            std::size_t first) {
  std::vector<bool> scalar;
  for (std::size_t i = first; i < in.operands.size(); ++i)
    scalar.push_back(in.operands[i].cols != in.results[0].cols);
  if (first > 0) scalar[0] = false;
  return {expression_of(binding.node), scalar};
}

class Pointwise final : public Kernel {
 public:
  Pointwise(const PlannedInstruction& in, const Binding& binding)
      : tiles_(make_tiles(in, binding, 0)), quantized_(in, binding) {}

  void run(const PlannedInstruction& in, const Run& run) const override {
    std::array<RowsIn, kMaxExpressionOperands> operands;
    std::array<RowsOut, kMaxExpressionResults> results;
    for (std::size_t i = 0; i < in.operands.size(); ++i) operands[i] = rows_in(in, run, i);
    for (std::size_t i = 0; i < tiles_.result_count(); ++i) results[i] = rows_out(in, run, i);
    const std::size_t rows = rows_of(in, run);
    // A block of 8 rows is still in the L1 cache when it is quantized.
    const std::size_t step = quantized_.empty() ? rows : 8;
    for (std::size_t r = 0; r < rows; r += step) {
      const std::size_t n = std::min(step, rows - r);
      tiles_.run(operands.data(), n, cols_of(in), results.data());
      quantized_.quantize(in, run, r, r + n);
      for (std::size_t i = 0; i < in.operands.size(); ++i) operands[i] = rows_from(operands[i], n);
      for (RowsOut& out : results) out.data += n * out.stride;
    }
  }

 private:
  ElementwiseTiles tiles_;
  QuantizedResults quantized_;
};

std::string refuse_pointwise(const Graph& graph, const Node& node) {
  return refuse_expression(graph, node, node.operands.size());
}

// --- Products with expressions ---

class Linear : public Kernel {
 public:
  Linear(const PlannedInstruction& in, const Binding& binding)
      : tiles_(make_tiles(in, binding, 1)), quantized_(in, binding) {}

 protected:
  /// Rows are quantized once all their columns are computed.
  void run_with(const PlannedInstruction& in, const Run& run, const PackedMatrix& matrix) const {
    constexpr std::size_t kRows = 96;
    const std::size_t rows = rows_of(in, run);
    const bool shared = is_worth_parts(run, work_of(matrix, rows));
    in_panels(run, matrix, rows, [&](std::size_t first, std::size_t last) {
      for (std::size_t r = 0; r < rows; r += kRows) {
        const std::size_t n = std::min(kRows, rows - r);
        run_tiles(in, run, matrix, first, last, r, n);
        if (!shared) quantized_.quantize(in, run, r, r + n);
      }
    });
    if (shared) quantized_.quantize(in, run);
  }

 private:
  /// Computes panels first … last - 1 for `n` rows from `r` on, in tiles of columns: the product,
  /// then the expression while the tile is in the cache.
  void run_tiles(const PlannedInstruction& in, const Run& run, const PackedMatrix& matrix,
                 std::size_t first, std::size_t last, std::size_t r, std::size_t n) const {
    constexpr std::size_t kColumns = 256;
    const std::size_t step = std::max<std::size_t>(kColumns / matrix.panel(), 1);
    std::array<RowsIn, kMaxExpressionOperands> operands;
    std::array<RowsOut, kMaxExpressionResults> results;
    for (std::size_t i = 0; i < tiles_.result_count(); ++i) {
      results[i] = rows_out(in, run, i);
      results[i].data += r * results[i].stride;
    }
    for (std::size_t i = 2; i < in.operands.size(); ++i)
      operands[i - 1] = rows_from(rows_in(in, run, i), r);
    operands[0] = {.data = results[0].data, .stride = results[0].stride, .columns = matrix.n()};
    const RowsIn x = rows_from(rows_in(in, run, 0), r);
    for (std::size_t p = first; p < last; p += step) {
      const std::size_t end = std::min(p + step, last);
      const std::size_t column = p * matrix.panel();
      run.kernels.gemm_panels(x, n, matrix, p, end, results[0]);
      tiles_.run_columns(operands.data(), n, column,
                         std::min(end * matrix.panel(), matrix.n()) - column, results.data());
    }
  }

  ElementwiseTiles tiles_;
  QuantizedResults quantized_;
};

/// With a stored matrix, packed when the program is made.
class PackedLinear final : public Linear {
 public:
  PackedLinear(const PlannedInstruction& in, const Binding& binding)
      : Linear(in, binding), matrix_(packed_operand(in, binding, 1, packed_shape(binding))) {}

  void run(const PlannedInstruction& in, const Run& run) const override {
    run_with(in, run, *matrix_);
  }

 private:
  std::shared_ptr<const PackedMatrix> matrix_;
};

std::string refuse_packed_linear(const Graph& graph, const Node& node) {
  if (std::string reason = refuse_packed_matrix(graph, node); !reason.empty()) return reason;
  return refuse_expression(graph, node, 1);
}

/// With a computed matrix, packed at run time. Only a load program has such matrices, and it runs
/// once.
class PackingLinear final : public Linear {
 public:
  PackingLinear(const PlannedInstruction& in, const Binding& binding)
      : Linear(in, binding), shape_(packing_shape(binding)) {}

  void run(const PlannedInstruction& in, const Run& run) const override {
    run_with(in, run, pack(data_at<const std::byte>(in.operands[1], run, 0), shape_));
  }

 private:
  MatrixShape shape_;
};

std::string refuse_packing_linear(const Graph& graph, const Node& node) {
  if (std::string reason = refuse_packing_matrix(graph, node); !reason.empty()) return reason;
  return refuse_expression(graph, node, 1);
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

constexpr KernelEntry kKernels[] = {
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
    {{.op = op::Linear::kName,
      .name = "packed_gemm_elements",
      .reads = OperandReads{view, whole}.then_all(view),
      .refuse = refuse_packed_linear,
      .quantizes = true},
     make_kernel<PackedLinear>},
    {{.op = op::Linear::kName,
      .name = "packing_gemm_elements",
      .reads = OperandReads{view, whole}.then_all(view),
      .refuse = refuse_packing_linear,
      .quantizes = true},
     make_kernel<PackingLinear>},
};

}  // namespace

std::span<const KernelEntry> elementwise_kernels() { return kKernels; }

}  // namespace fuselage::cpu
