#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backends/cuda/device/runtime/rows.h"

namespace fuselage::cuda {

/// A table of precomputed products for the most frequent entries of a vocabulary. An entry's row is
/// rank[entry], or `entry` without ranks. Entries with a row of `rows` or more are not in the
/// table.
struct FrequentProducts {
  const float* data = nullptr;  ///< [rows, columns], without gaps
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  const std::int32_t* rank = nullptr;
};

/// Overwrites out[r] with the table's row of entries[r]. Rows without an entry (entries[r] < 0)
/// become zeros; rows of other entries are left.
void look_up_products(cudaStream_t stream, const FrequentProducts& table,
                      const std::int32_t* entries, const Rows& rows, const RowsOut& out);

/// out [count, columns]: the rows of x with a rank below `count`, at their rank. x has a row for
/// each entry; without ranks an entry's rank is its number.
void copy_leading_rows(cudaStream_t stream, const RowsIn& x, const Rows& entries,
                       const std::int32_t* rank, std::int64_t count, float* out);

}  // namespace fuselage::cuda
