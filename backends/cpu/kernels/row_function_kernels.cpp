// Ops by their row functions, for nodes that no other kernel can run.

#include <fmt/format.h>

#include <array>

#include "backends/cpu/kernels/kernel_families.h"
#include "fuselage/backends/cpu/runtime/make_kernel.h"
#include "fuselage/backends/cpu/runtime/operands.h"
#include "fuselage/ops/row_function.h"
#include "ops/call_op.h"

namespace fuselage::cpu {
namespace {

constexpr std::size_t kMaxOperands = 16;

class RowFunctionKernel final : public Kernel {
 public:
  RowFunctionKernel(const PlannedInstruction&, const Binding& binding)
      : function_(bind_row_function(binding.node)) {}

  void run(const PlannedInstruction& in, const Run& run) const override {
    const std::size_t count = in.operands.size();
    std::array<RowsIn, kMaxOperands> rows;
    std::array<RowOperand<float>, kMaxOperands> operands;
    for (std::size_t i = 0; i < count; ++i) rows[i] = rows_in(in, run, i);
    const RowsOut out = rows_out(in, run);
    for (std::size_t r = 0; r < rows_of(in, run); ++r) {
      for (std::size_t i = 0; i < count; ++i)
        operands[i] = {row_of(rows[i], r, rows[i].columns), rows[i].columns};
      function_.f32({operands.data(), count}, {out.data + r * out.stride, cols_of(in)});
    }
  }

 private:
  RowFunction function_;
};

std::string refuse_row_function(const Graph& graph, const Node& node) {
  if (!node.op->row) return "the op has no row function";
  if (node.operands.size() > kMaxOperands)
    return fmt::format("it takes {} operands at most", kMaxOperands);
  if (node.results.size() != 1) return "it gives one result";
  const Type& result = graph.value(node.results[0]).type;
  if (result.dtype != DType::f32) return "it gives f32";
  for (const ValueId operand : node.operands) {
    const Type& type = graph.value(operand).type;
    if (type.dtype != DType::f32) return "it works on f32";
    if (type.domain != result.domain && type.domain != graph.none())
      return "an operand has other rows than the result";
  }
  return "";
}

}  // namespace

std::span<const KernelEntry> row_function_kernels() {
  static constexpr KernelEntry kKernels[] = {
      {{.op = "*",
        .name = "row_function",
        .reads = all_operands(Reads::view),
        .refuse = refuse_row_function,
        .serves = [](const OpDef& op) { return op.row != nullptr; }},
       make_kernel<RowFunctionKernel>},
  };
  return kKernels;
}

}  // namespace fuselage::cpu
