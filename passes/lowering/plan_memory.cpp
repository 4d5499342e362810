#include "passes/lowering/plan_memory.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "fuselage/base/error.h"

namespace fuselage {
namespace {

std::size_t aligned(std::size_t size) {
  return (size + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
}

bool live_together(const BufferLifetime& a, const BufferLifetime& b) {
  return a.first <= b.last && b.first <= a.last;
}

struct Extent {
  std::size_t begin = 0, end = 0;
};

/// The offset of the smallest gap between the extents that fits `size`, else the end of the last
/// one.
std::size_t best_gap(std::vector<Extent> taken, std::size_t size) {
  std::sort(taken.begin(), taken.end(),
            [](const Extent& a, const Extent& b) { return a.begin < b.begin; });
  std::optional<Extent> best;
  std::size_t end = 0;
  for (const Extent& extent : taken) {
    if (extent.begin >= end + size && (!best || extent.begin - end < best->end - best->begin))
      best = Extent{end, extent.begin};
    end = std::max(end, extent.end);
  }
  return best ? best->begin : end;
}

}  // namespace

std::size_t most_live_bytes(std::span<const BufferLifetime> buffers) {
  // Bytes allocated at each step, and bytes freed one step after the last use.
  std::map<std::uint64_t, std::pair<std::size_t, std::size_t>> changes;
  for (const BufferLifetime& buffer : buffers) {
    changes[buffer.first].first += aligned(buffer.size_bytes);
    changes[std::uint64_t{buffer.last} + 1].second += aligned(buffer.size_bytes);
  }
  std::size_t live = 0;
  std::size_t most = 0;
  for (const auto& [step, change] : changes) {
    live = live + change.first - change.second;
    most = std::max(most, live);
  }
  return most;
}

MemoryPlan plan_memory(std::span<const BufferLifetime> buffers) {
  for (const BufferLifetime& buffer : buffers)
    check(buffer.first <= buffer.last, "a buffer dies before it is made");
  std::vector<std::size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const BufferLifetime& x = buffers[a];
    const BufferLifetime& y = buffers[b];
    return std::pair(y.size_bytes, x.first) < std::pair(x.size_bytes, y.first);
  });

  MemoryPlan plan{.offsets = std::vector<std::size_t>(buffers.size())};
  std::vector<std::size_t> placed;
  for (const std::size_t i : order) {
    const std::size_t size = aligned(buffers[i].size_bytes);
    if (size == 0) continue;
    std::vector<Extent> taken;
    for (const std::size_t other : placed)
      if (live_together(buffers[i], buffers[other]))
        taken.push_back(
            {plan.offsets[other], plan.offsets[other] + aligned(buffers[other].size_bytes)});
    plan.offsets[i] = best_gap(std::move(taken), size);
    plan.arena_bytes = std::max(plan.arena_bytes, plan.offsets[i] + size);
    placed.push_back(i);
  }
  return plan;
}

}  // namespace fuselage
