#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace fuselage::cuda {

// Kernel parameters, passed by value. Row counts are in device memory and are read when the kernel
// runs, so a captured launch stays valid while the number of rows changes.

/// The rows that a kernel computes: 0 … *live - 1. `max_live` bounds *live for this launch.
struct Rows {
  const std::int32_t* live = nullptr;
  std::int32_t max_live = 0;
};

/// A matrix operand of T. Without `index`, row r is at data + r * stride. With `index`, it is at
/// data + index[r] * stride, or at `fallback` where index[r] < 0. With `first`, r counts from
/// *first. A null fallback reads as zeros. Stride 0 repeats one row. `columns` is the number of
/// columns, or 1 to repeat one element over each row in kernels that allow it.
template <typename T>
struct RowsOf {
  const T* data = nullptr;
  std::int64_t stride = 0;
  const std::int32_t* index = nullptr;
  const T* fallback = nullptr;
  const std::int32_t* first = nullptr;
  std::int32_t columns = 0;
};
using RowsIn = RowsOf<float>;

/// A matrix result: row r is at data + (r + (first ? *first : 0)) * stride.
template <typename T>
struct ResultOf {
  T* data = nullptr;
  std::int64_t stride = 0;
  const std::int32_t* first = nullptr;
};
using RowsOut = ResultOf<float>;

/// Segments of pairs, one for each left row: left row i has the pairs begin[i] … begin[i + 1] - 1.
struct Segments {
  const std::int32_t* begin = nullptr;
};

/// Row r of an operand; nullptr for a row of zeros.
template <typename T>
__device__ inline const T* row_of(const RowsOf<T>& in, std::int64_t r) {
  if (in.first) r += *in.first;
  if (!in.index) return in.data + r * in.stride;
  const std::int32_t index = in.index[r];
  return index >= 0 ? in.data + index * in.stride : in.fallback;
}

/// Element c of a row from row_of().
template <typename T>
__device__ inline T element(const T* row, std::int64_t c) {
  return row ? row[c] : T{};
}

template <typename T>
__device__ inline T* row_of(const ResultOf<T>& out, std::int64_t r) {
  return out.data + (r + (out.first ? *out.first : 0)) * out.stride;
}

/// A vector of floats at equal distances; zeros without data.
struct StridedVector {
  const float* data = nullptr;
  std::int64_t stride = 1;

  __device__ float operator[](std::int64_t i) const { return data ? data[i * stride] : 0.0f; }
};

// --- Views of operands and results ---

/// An operand or result without its first `count` rows.
template <typename T>
RowsOf<T> skip_rows(RowsOf<T> rows, std::int64_t count) {
  if (rows.index)
    rows.index += count;
  else
    rows.data += count * rows.stride;
  return rows;
}
template <typename T>
ResultOf<T> skip_rows(ResultOf<T> rows, std::int64_t count) {
  rows.data += count * rows.stride;
  return rows;
}

/// Whether rows at `data` that lie `stride` elements apart can be read and written as float4.
inline bool is_float4_aligned(const void* data, std::int64_t stride) {
  return reinterpret_cast<std::uintptr_t>(data) % sizeof(float4) == 0 && stride % 4 == 0;
}
inline bool is_float4_aligned(const RowsIn& rows) {
  return is_float4_aligned(rows.data, rows.stride) && is_float4_aligned(rows.fallback, 0);
}
inline bool is_float4_aligned(const RowsOut& rows) {
  return is_float4_aligned(rows.data, rows.stride);
}

/// The same rows as float4, with a quarter of the columns.
inline RowsOf<float4> as_float4(const RowsIn& rows) {
  return {.data = reinterpret_cast<const float4*>(rows.data),
          .stride = rows.stride / 4,
          .index = rows.index,
          .fallback = reinterpret_cast<const float4*>(rows.fallback),
          .first = rows.first,
          .columns = rows.columns / 4};
}
inline ResultOf<float4> as_float4(const RowsOut& rows) {
  return {
      .data = reinterpret_cast<float4*>(rows.data), .stride = rows.stride / 4, .first = rows.first};
}

}  // namespace fuselage::cuda
