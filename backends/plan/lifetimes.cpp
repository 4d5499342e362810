#include "backends/plan/lifetimes.h"

#include <algorithm>

namespace fuselage {
namespace {

void touch(std::vector<Buffer>& buffers, const BufferView& view, std::uint32_t at) {
  for (const std::int32_t number : {static_cast<std::int32_t>(view.buffer), view.fallback_buffer}) {
    if (number == kNone) continue;
    Buffer& buffer = buffers[static_cast<std::size_t>(number)];
    buffer.first = std::min(buffer.first, at);
    buffer.last = std::max(buffer.last, at);
  }
}

/// Live range of each buffer: from its first to its last use as operand or result.
void find_uses(ProgramPlan& plan) {
  for (Buffer& buffer : plan.buffers) {
    buffer.first = kForever;
    buffer.last = 0;
  }
  for (std::uint32_t i = 0; i < plan.instructions.size(); ++i) {
    for (const BufferView& view : plan.instructions[i].operands) touch(plan.buffers, view, i);
    for (const BufferView& view : plan.instructions[i].results) touch(plan.buffers, view, i);
    for (const AppendedRows& rows : plan.instructions[i].appended)
      touch(plan.buffers, rows.rows, i);
  }
}

void keep_in(const Loop& loop, Buffer& buffer) {
  buffer.first = std::min(buffer.first, loop.begin);
  buffer.last = std::max(buffer.last, loop.end - 1);
}

/// A buffer used both inside and outside of a loop is live during the whole loop.
void keep_where_it_crosses(const Loop& loop, Buffer& buffer) {
  const bool inside = buffer.last >= loop.begin && buffer.first < loop.end;
  const bool crosses = buffer.first < loop.begin || buffer.last >= loop.end;
  if (inside && crosses) keep_in(loop, buffer);
}

void keep_forever(Buffer& buffer) {
  buffer.first = 0;
  buffer.last = kForever;
}

void keep_between_iterations(ProgramPlan& plan, const CarriedBuffer& carried) {
  Buffer& buffer = plan.buffers[carried.buffer];
  for (const Loop& loop : plan.loops)
    if (carried.state >= loop.begin && carried.state < loop.end) {
      keep_in(loop, buffer);
      return;
    }
  keep_forever(buffer);
}

}  // namespace

void find_lifetimes(ProgramPlan& plan, std::span<const CarriedBuffer> carried) {
  find_uses(plan);
  // Before loops are looked at: a later program may be the only reader of a collected value.
  for (const BufferView& view : plan.outputs) plan.buffers[view.buffer].last = kForever;
  for (const Loop& loop : plan.loops)
    for (Buffer& buffer : plan.buffers) keep_where_it_crosses(loop, buffer);
  for (const CarriedBuffer& one : carried) keep_between_iterations(plan, one);
  for (Buffer& buffer : plan.buffers)
    if (plan.graph.domain(buffer.domain).kind == DomainKind::prefix && !buffer.newest_only)
      keep_forever(buffer);
}

}  // namespace fuselage
