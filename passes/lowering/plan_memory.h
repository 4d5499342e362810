#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace fuselage {

/// Where buffers begin. All sizes are multiples of this, a cache line.
inline constexpr std::size_t kBufferAlignment = 64;

/// A buffer and the steps of a schedule during which it holds something: first to last, inclusive.
struct BufferLifetime {
  std::size_t size_bytes = 0;
  std::uint32_t first = 0, last = 0;
};

/// Places for buffers in one arena.
struct MemoryPlan {
  std::vector<std::size_t> offsets;  ///< of each buffer, multiples of kBufferAlignment
  std::size_t arena_bytes = 0;
};

/// Most bytes alive in one step: no plan can be smaller.
std::size_t most_live_bytes(std::span<const BufferLifetime> buffers);

/// Places buffers so that no two that live at one time overlap: the largest first, each into the
/// smallest gap that holds it.
MemoryPlan plan_memory(std::span<const BufferLifetime> buffers);

}  // namespace fuselage
