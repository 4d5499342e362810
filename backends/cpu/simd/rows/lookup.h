#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cpu/simd/gemm/packed_matrix.h"
#include "backends/cpu/simd/table.h"
#include "fuselage/backends/cpu/simd/rows.h"
#include "fuselage/backends/cpu/simd/rows/lookup_count.h"

namespace fuselage::cpu {

/// Products of the most frequent vocabulary entries: the row of an entry is rank[entry], without
/// ranks `entry`. Entries with a row number of `rows` or more have no product.
struct FrequentProducts {
  const float* data = nullptr;  ///< [rows, columns], without gaps
  std::size_t rows = 0;
  const std::int32_t* rank = nullptr;
};

/// out [rows, matrix.n()]: the product of each row of x, which has an index, with `matrix`: copied
/// if the table has it, else computed, bitwise equal to gemm. Rows with index -1 become zeros and
/// do not count as look-ups; x.fallback must be null. out must not overlap x. Allocates nothing.
LookupCount lookup_products(const KernelTable& kernels, const RowsIn& x, std::size_t rows,
                            const PackedMatrix& matrix, const FrequentProducts& table,
                            const RowsOut& out);

}  // namespace fuselage::cpu
