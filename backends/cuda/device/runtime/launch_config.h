#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "backends/cuda/device/runtime/launch.h"
#include "backends/cuda/device/runtime/rows.h"

namespace fuselage::cuda {

// Launch configurations. The threads that share a row depend on its columns alone, so a row's
// result does not depend on the number of rows.

/// A thread for each element: x counts columns, y rows. Kernels use grid-stride loops, over rows in
/// x of the grid and over columns in y.
inline LaunchConfig config_for_elements(const Rows& rows, std::int64_t columns) {
  constexpr std::uint32_t kThreads = 256;
  constexpr std::uint32_t kMaxBlocks = 65535;
  if (columns <= 0 || rows.max_live <= 0) return {.grid = dim3(0)};
  const std::uint32_t across = std::bit_ceil(
      static_cast<std::uint32_t>(std::min<std::int64_t>(columns, std::int64_t{kThreads})));
  const std::uint32_t down = kThreads / across;
  return {.grid = dim3(blocks_for(rows.max_live, down),
                       std::min(blocks_for(columns, across), kMaxBlocks)),
          .block = dim3(across, down)};
}

/// `groups` thread groups of kThreads threads (thread_group.h).
template <int kThreads>
LaunchConfig config_for_groups(std::int64_t groups) {
  constexpr int kBlock = std::max(kThreads, 128);
  return {.grid = dim3(blocks_for(groups, kBlock / kThreads)), .block = dim3(kBlock)};
}

/// Calls f with the size of the thread group for a row of so many columns, as a constant.
template <typename F>
void with_group(std::int64_t columns, F f) {
  if (columns <= 256)
    f(std::integral_constant<int, 32>());
  else if (columns <= 4096)
    f(std::integral_constant<int, 128>());
  else
    f(std::integral_constant<int, 512>());
}

}  // namespace fuselage::cuda
