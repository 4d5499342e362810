#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace fuselage::cuda {

// What kernels take by value. How many rows there are stands in device memory and is read when the
// kernel runs, so that a captured launch stays good while rows come and go.

/// The rows that a kernel computes: row 0 … *live - 1, of which there are never more than `most`
/// when this launch runs.
struct Rows {
  const std::int32_t* live = nullptr;
  std::int32_t most = 0;
};

/// A matrix operand of T. Row r is, with `index`, `fallback` where index[r] < 0 and
/// data + index[r] * stride elsewhere; without, data + r * stride. With `first`, r counts from
/// *first on. A null fallback reads as zeros. Stride 0 repeats one row. `columns` is the number of
/// columns, or 1 to repeat one element over each row where a kernel says that it takes that.
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

/// A matrix to write: row r is data + (r + (first ? *first : 0)) * stride.
template <typename T>
struct ResultOf {
  T* data = nullptr;
  std::int64_t stride = 0;
  const std::int32_t* first = nullptr;
};
using RowsOut = ResultOf<float>;

/// Runs of pairs, one run a left row: the pairs of left row i are begin[i] … begin[i + 1] - 1.
struct Segments {
  const std::int32_t* begin = nullptr;
};

/// Row r of an operand; nullptr where it is zeros.
template <typename T>
__device__ inline const T* row_of(const RowsOf<T>& in, std::int64_t r) {
  if (in.first) r += *in.first;
  if (!in.index) return in.data + r * in.stride;
  const std::int32_t index = in.index[r];
  return index >= 0 ? in.data + index * in.stride : in.fallback;
}

/// Element c of a row that row_of() gave.
template <typename T>
__device__ inline T element(const T* row, std::int64_t c) {
  return row ? row[c] : T{};
}

template <typename T>
__device__ inline T* row_of(const ResultOf<T>& out, std::int64_t r) {
  return out.data + (r + (out.first ? *out.first : 0)) * out.stride;
}

}  // namespace fuselage::cuda
