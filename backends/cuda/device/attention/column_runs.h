#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "backends/cuda/device/runtime/conversions.h"

namespace fuselage::cuda {

/// Adjacent columns that a lane takes of a row of T: 16 bytes of 16-bit floats, or one float.
template <typename T>
inline constexpr int kRun = sizeof(T) == 2 ? 8 : 1;

/// A run as it is in memory.
template <typename T>
using Run = std::conditional_t<sizeof(T) == 2, uint4, float>;

/// The columns from c on of a row with `width` columns: zeros beyond the row, and without a row.
/// kAligned: rows, and so all runs that begin at a multiple of kRun, begin at a multiple of the
/// size of a run, and rows end with a run.
template <bool kAligned, typename T>
__device__ Run<T> load_run(const T* row, std::int32_t c, std::int32_t width) {
  if constexpr (kAligned) {
    return row && c < width ? *reinterpret_cast<const Run<T>*>(row + c) : Run<T>{};
  } else {
    const auto* halves = reinterpret_cast<const std::uint16_t*>(row) + c;
    std::uint32_t words[kRun<T> / 2];
#pragma unroll
    for (int w = 0; w < kRun<T> / 2; ++w) {
      const std::uint32_t first = row && c + 2 * w < width ? halves[2 * w] : 0;
      const std::uint32_t second = row && c + 2 * w + 1 < width ? halves[2 * w + 1] : 0;
      words[w] = first | second << 16;
    }
    return {words[0], words[1], words[2], words[3]};
  }
}

/// The two numbers of T in a word, the one in the lower half first.
template <typename T>
__device__ void unpack(std::uint32_t word, float* numbers) {
  if constexpr (std::is_same_v<T, __half>) {
    numbers[0] = as_float(__ushort_as_half(static_cast<std::uint16_t>(word)));
    numbers[1] = as_float(__ushort_as_half(static_cast<std::uint16_t>(word >> 16)));
  } else {
    numbers[0] = __uint_as_float(word << 16);
    numbers[1] = __uint_as_float(word & 0xffff0000u);
  }
}

/// The numbers of a run.
template <typename T>
struct Numbers {
  float at[kRun<T>];

  __device__ explicit Numbers(const Run<T>& run) {
    if constexpr (kRun<T> == 1) {
      at[0] = run;
    } else {
      unpack<T>(run.x, at);
      unpack<T>(run.y, at + 2);
      unpack<T>(run.z, at + 4);
      unpack<T>(run.w, at + 6);
    }
  }
};

/// Whether all runs of heads of `width` columns are aligned, in rows of T at `data`, `stride`
/// apart.
template <typename T>
bool has_aligned_runs(const T* data, std::int64_t stride, std::int64_t width) {
  return reinterpret_cast<std::uintptr_t>(data) % sizeof(Run<T>) == 0 && stride % kRun<T> == 0 &&
         width % kRun<T> == 0;
}

}  // namespace fuselage::cuda
