#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backends/cuda/device/runtime/rows.h"

namespace fuselage::cuda {

/// Products of the most frequent entries of a vocabulary: row rank[entry] is that of an entry,
/// without ranks row `entry`. An entry whose row is not in 0 … rows - 1 has none.
struct FrequentProducts {
  const float* data = nullptr;  ///< [rows, columns], without gaps
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  const std::int32_t* rank = nullptr;
};

/// Overwrites the rows of out whose products the table has, and those that have no entry
/// (entries[r] < 0) with zeros.
void take_frequent(cudaStream_t stream, const FrequentProducts& table, const std::int32_t* entries,
                   const Rows& rows, const RowsOut& out);

/// out [count, columns]: the rows of x, one for each entry, whose rank (by default their number) is
/// below `count`.
void copy_leading(cudaStream_t stream, const RowsIn& x, const Rows& entries,
                  const std::int32_t* rank, std::int64_t count, float* out);

}  // namespace fuselage::cuda
