#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backends/cuda/device/runtime/rows.h"

namespace fuselage::cuda {

/// Counts the live rows of each chunk of `size` rows: counts [rows.most / size, rounded up].
void count_chunks(cudaStream_t stream, const Rows& rows, std::int32_t size, std::int32_t* counts);

/// An operand or result without its first `count` rows.
template <typename T>
RowsOf<T> rows_behind(RowsOf<T> rows, std::int64_t count) {
  if (rows.index)
    rows.index += count;
  else
    rows.data += count * rows.stride;
  return rows;
}
template <typename T>
ResultOf<T> rows_behind(ResultOf<T> rows, std::int64_t count) {
  rows.data += count * rows.stride;
  return rows;
}

}  // namespace fuselage::cuda
