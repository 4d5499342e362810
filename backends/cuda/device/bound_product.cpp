#include "backends/cuda/device/bound_product.h"

#include <algorithm>

#include "base/error.h"

namespace fuselage::cuda {
namespace {

/// Whether the first of the rows of a place is known on the device alone: it stands behind the rows
/// of earlier steps. In other domains a step has no such rows.
bool is_behind_others(const PlannedInstruction& in, const Place& place, const Binding& binding) {
  const Buffer& buffer = binding.plan.buffers[place.buffer];
  return binding.graph.domain(in.domain).kind == DomainKind::prefix && place.index == kNone &&
         place.stride != 0 && !buffer.newest_only && buffer.domain == in.domain;
}

RowProduct::Detours detours_of(const PlannedInstruction& in, const Binding& binding) {
  const Place& x = in.operands[0];
  return {.gathers = x.index != kNone || x.stride == 0 || is_behind_others(in, x, binding),
          .appends = is_behind_others(in, in.results[0], binding)};
}

RowProduct product_of(const PlannedInstruction& in, const Binding& binding) {
  const Type& x = binding.graph.value(binding.node.operands[0]).type;
  const Type& w = binding.graph.value(binding.node.operands[1]).type;
  const std::int64_t k = x.dims.back();
  const std::int64_t vectors = row_size(x) / k;
  const std::int64_t entries = std::max<std::int64_t>(binding.graph.domain(w.domain).size, 1);
  const std::int64_t n = row_size(w) * entries / k;
  const Place& place = in.operands[1];
  check(binding.plan.buffers[place.buffer].kind == Buffer::Kind::weight,
        "BoundProduct: its matrix is not stored");
  return {
      binding.weights.matrix(binding.plan, place,
                             {.k = k, .n = n, .transposed = binding.node.attr<bool>("transposed")}),
      x.dtype, vectors};
}

}  // namespace

BoundProduct::BoundProduct(const PlannedInstruction& in, const Binding& binding)
    : detours_(detours_of(in, binding)), rows_(product_of(in, binding)) {}

std::size_t BoundProduct::workspace_bytes(const PlannedInstruction& in, const RowBounds& bounds,
                                          bool apart) const {
  RowProduct::Detours detours = detours_;
  if (apart) detours.appends = false;
  return rows_.workspace_bytes(most_rows(in, bounds), detours);
}

RowProduct::Call BoundProduct::call(const PlannedInstruction& in, const Run& run) const {
  RowProduct::Call call{.stream = run.stream,
                        .blas = run.blas,
                        .workspace = run.workspace,
                        .x = rows_in(in, run, 0),
                        .rows = rows_of(in, run),
                        .out = rows_out(in, run)};
  // Where rows begin with the first, that need not be read from the device.
  if (!detours_.gathers) call.x.first = nullptr;
  if (!detours_.appends) call.out.first = nullptr;
  return call;
}

}  // namespace fuselage::cuda
