#include "backends/cuda/device/gemm/gemm_operands.h"

#include <algorithm>

#include "base/error.h"

namespace fuselage::cuda {
namespace {

/// Whether the first of the rows of a place is known on the device alone: it stands behind the rows
/// of earlier steps. In other domains a step has no such rows.
bool is_behind_others(const PlannedInstruction& in, const BufferView& view,
                      const Binding& binding) {
  const Buffer& buffer = binding.plan.buffers[view.buffer];
  return binding.graph.domain(in.domain).kind == DomainKind::prefix && view.index == kNone &&
         view.stride != 0 && !buffer.newest_only && buffer.domain == in.domain;
}

RowProduct::Detours detours_of(const PlannedInstruction& in, const Binding& binding,
                               std::size_t operand) {
  const BufferView& x = in.operands[operand];
  return {.gathers = x.index != kNone || x.stride == 0 || is_behind_others(in, x, binding),
          .appends = is_behind_others(in, in.results[0], binding)};
}

RowProduct product_of(const PlannedInstruction& in, const Binding& binding,
                      const Factors& factors) {
  const Type& x = binding.graph.value(binding.node.operands[factors.x]).type;
  return {stored_matrix(in, binding, factors), x.dtype, row_size(x) / x.dims.back()};
}

}  // namespace

Factors first_two(const Binding& binding) {
  return {.x = 0, .w = 1, .transposed = binding.node.attr<bool>("transposed")};
}

std::shared_ptr<const DeviceMatrix> stored_matrix(const PlannedInstruction& in,
                                                  const Binding& binding, const Factors& factors) {
  const std::int64_t k = binding.graph.value(binding.node.operands[factors.x]).type.dims.back();
  const Type& w = binding.graph.value(binding.node.operands[factors.w]).type;
  const std::int64_t entries = std::max<std::int64_t>(binding.graph.domain(w.domain).size, 1);
  const BufferView& view = in.operands[factors.w];
  check(binding.plan.buffers[view.buffer].kind == Buffer::Kind::weight,
        "BoundProduct: its matrix is not stored");
  return binding.weights.matrix(
      binding.plan, view,
      {.k = k, .n = row_size(w) * entries / k, .transposed = factors.transposed});
}

BoundProduct::BoundProduct(const PlannedInstruction& in, const Binding& binding)
    : BoundProduct(in, binding, first_two(binding)) {}

BoundProduct::BoundProduct(const PlannedInstruction& in, const Binding& binding,
                           const Factors& factors)
    : operand_(factors.x),
      detours_(detours_of(in, binding, factors.x)),
      rows_(product_of(in, binding, factors)) {}

std::size_t BoundProduct::workspace_bytes(const PlannedInstruction& in, const RowBounds& bounds,
                                          bool apart) const {
  const std::int64_t rows = most_rows(in, bounds);
  return apart ? bytes_apart(rows) : rows_.workspace_bytes(rows, detours_);
}

std::size_t BoundProduct::bytes_apart(std::int64_t rows) const {
  return rows_.workspace_bytes(rows, {.gathers = detours_.gathers, .appends = false});
}

RowProduct::Call BoundProduct::call(const PlannedInstruction& in, const Run& run) const {
  RowProduct::Call call{.stream = run.stream,
                        .blas = run.blas,
                        .workspace = run.workspace,
                        .x = rows_in(in, run, operand_),
                        .rows = rows_of(in, run),
                        .out = rows_out(in, run)};
  // Where rows begin with the first, that need not be read from the device.
  if (!detours_.gathers) call.x.first = nullptr;
  if (!detours_.appends) call.out.first = nullptr;
  return call;
}

}  // namespace fuselage::cuda
