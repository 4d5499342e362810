#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "backends/cuda/device/runtime/launch.h"
#include "backends/cuda/device/runtime/rows.h"

namespace fuselage::cuda {

// How rows are spread over threads, and rows as groups of four elements. None of it depends on how
// many rows there are, so that neither does a row's result.

/// A thread for each element: x counts columns, y rows. Kernels start at their place and go on by
/// what the grid covers, in x of the grid over rows and in y of it over columns.
inline Spread spread_over(const Rows& rows, std::int64_t columns) {
  constexpr std::uint32_t kThreads = 256;
  constexpr std::uint32_t kMaxBlocks = 65535;
  if (columns <= 0 || rows.most <= 0) return {.grid = dim3(0)};
  const std::uint32_t across = std::bit_ceil(
      static_cast<std::uint32_t>(std::min<std::int64_t>(columns, std::int64_t{kThreads})));
  const std::uint32_t down = kThreads / across;
  return {
      .grid = dim3(blocks_for(rows.most, down), std::min(blocks_for(columns, across), kMaxBlocks)),
      .block = dim3(across, down)};
}

/// A team of kThreads for each of `teams` things (row_team.h).
template <int kThreads>
Spread spread_teams(std::int64_t teams) {
  constexpr int kBlock = std::max(kThreads, 128);
  return {.grid = dim3(blocks_for(teams, kBlock / kThreads)), .block = dim3(kBlock)};
}

/// Calls f with the size of the team for rows of so many columns, as a constant.
template <typename F>
void with_team(std::int64_t columns, F f) {
  if (columns <= 256)
    f(std::integral_constant<int, 32>());
  else if (columns <= 4096)
    f(std::integral_constant<int, 128>());
  else
    f(std::integral_constant<int, 512>());
}

/// Whether what lies at `data` with so many elements from row to row can be taken in fours.
inline bool in_fours(const void* data, std::int64_t stride) {
  return reinterpret_cast<std::uintptr_t>(data) % sizeof(float4) == 0 && stride % 4 == 0;
}
inline bool in_fours(const RowsIn& rows) {
  return in_fours(rows.data, rows.stride) && in_fours(rows.fallback, 0);
}
inline bool in_fours(const RowsOut& rows) { return in_fours(rows.data, rows.stride); }

/// The same rows with a quarter of the columns.
inline RowsOf<float4> fours_of(const RowsIn& rows) {
  return {.data = reinterpret_cast<const float4*>(rows.data),
          .stride = rows.stride / 4,
          .index = rows.index,
          .fallback = reinterpret_cast<const float4*>(rows.fallback),
          .first = rows.first,
          .columns = rows.columns / 4};
}
inline ResultOf<float4> fours_of(const RowsOut& rows) {
  return {
      .data = reinterpret_cast<float4*>(rows.data), .stride = rows.stride / 4, .first = rows.first};
}

}  // namespace fuselage::cuda
