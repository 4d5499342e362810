#include "backends/cuda/device/gemm/gemm_operands.h"

#include <algorithm>

#include "fuselage/base/error.h"
#include "fuselage/ops/arithmetic/matmul.h"

namespace fuselage::cuda {
namespace {

/// Whether new rows of a view come after the rows of earlier steps, so that only the device knows
/// the first one. Only prefix domains have such rows.
bool has_first(const PlannedInstruction& in, const BufferView& view, const Binding& binding) {
  const Buffer& buffer = binding.plan.buffers[view.buffer];
  return binding.graph.domain(in.domain).kind == DomainKind::prefix && view.index == kNone &&
         view.stride != 0 && !buffer.newest_only && buffer.domain == in.domain;
}

Gemm::Staging staging_of(const PlannedInstruction& in, const Binding& binding,
                         std::size_t operand) {
  const BufferView& x = in.operands[operand];
  return {.x = x.index != kNone || x.stride == 0 || has_first(in, x, binding),
          .out = has_first(in, in.results[0], binding)};
}

Gemm make_gemm(const PlannedInstruction& in, const Binding& binding, const Factors& factors) {
  const Type& x = binding.graph.value(binding.node.operands[factors.x]).type;
  return {stored_matrix(in, binding, factors), x.dtype, row_size(x) / x.dims.back()};
}

}  // namespace

Factors first_two_factors(const Binding& binding) {
  return {.x = 0, .w = 1, .transposed = binding.node.as<op::Transposed>().transposed};
}

std::shared_ptr<const DeviceMatrix> stored_matrix(const PlannedInstruction& in,
                                                  const Binding& binding, const Factors& factors) {
  const std::int64_t k = binding.graph.value(binding.node.operands[factors.x]).type.dims.back();
  const Type& w = binding.graph.value(binding.node.operands[factors.w]).type;
  const std::int64_t entries = std::max<std::int64_t>(binding.graph.domain(w.domain).size, 1);
  const BufferView& view = in.operands[factors.w];
  check(binding.plan.buffers[view.buffer].kind == Buffer::Kind::weight,
        "GemmOperands: the matrix is not a stored weight");
  return binding.weights.matrix(
      binding.plan, view,
      {.k = k, .n = row_size(w) * entries / k, .transposed = factors.transposed});
}

GemmOperands::GemmOperands(const PlannedInstruction& in, const Binding& binding)
    : GemmOperands(in, binding, first_two_factors(binding)) {}

GemmOperands::GemmOperands(const PlannedInstruction& in, const Binding& binding,
                           const Factors& factors)
    : operand_(factors.x),
      staging_(staging_of(in, binding, factors.x)),
      gemm_(make_gemm(in, binding, factors)) {}

std::size_t GemmOperands::workspace_bytes(const PlannedInstruction& in,
                                          const RowBounds& bounds) const {
  return gemm_.workspace_bytes(max_rows(in, bounds), staging_);
}

std::size_t GemmOperands::buffer_workspace_bytes(std::int64_t rows) const {
  return gemm_.workspace_bytes(rows, {.x = staging_.x, .out = false});
}

Gemm::Call GemmOperands::call(const PlannedInstruction& in, const Run& run) const {
  Gemm::Call call{.stream = run.stream,
                  .blas = run.blas,
                  .workspace = run.workspace,
                  .x = rows_in(in, run, operand_),
                  .rows = rows_of(in, run),
                  .out = rows_out(in, run)};
  // Without staging the first row is row 0, and need not be read from the device.
  if (!staging_.x) call.x.first = nullptr;
  if (!staging_.out) call.out.first = nullptr;
  return call;
}

}  // namespace fuselage::cuda
