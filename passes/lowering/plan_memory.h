#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/exported.h"

namespace fuselage {

/// Alignment of buffer offsets and sizes in bytes: a cache line.
inline constexpr std::size_t kBufferAlignment = 64;

/// A buffer and its live range: steps `first` to `last` of a schedule, inclusive.
struct BufferLifetime {
  std::size_t size_bytes = 0;
  std::uint32_t first = 0, last = 0;
};

/// The layout of buffers in one arena.
struct MemoryPlan {
  std::vector<std::size_t> offsets;  ///< of each buffer, multiples of kBufferAlignment
  std::size_t arena_bytes = 0;
};

/// The maximum bytes live in one step: a lower bound of every plan.
std::size_t most_live_bytes(std::span<const BufferLifetime> buffers);

/// Places buffers so that no two live at the same step overlap: largest first, each into the
/// smallest gap that fits (best fit).
FUSELAGE_EXPORTED MemoryPlan plan_memory(std::span<const BufferLifetime> buffers);

}  // namespace fuselage
