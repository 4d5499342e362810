#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cpu/simd/gemm/packed_matrix.h"
#include "backends/cpu/simd/rows.h"
#include "backends/cpu/simd/table.h"

namespace fuselage::cpu {

/// Products of the most frequent entries of a vocabulary: row rank[entry] is that of an entry,
/// without ranks row `entry`. An entry whose row is not below `rows` has none.
struct FrequentProducts {
  const float* data = nullptr;  ///< [rows, columns], without gaps
  std::size_t rows = 0;
  const std::int32_t* rank = nullptr;
};

/// Looked-up rows, and those of them that were in the table.
struct LookupCount {
  std::size_t lookups = 0, hits = 0;
};

/// out [rows, matrix.n()]: the product of each row of x, which has an index, with `matrix`, copied
/// where the table has it and computed elsewhere, with the bits of gemm. Rows that x.rows leaves
/// out become zeros and count as no look-up; x.fallback must be null. out must not overlap x.
/// Allocates nothing.
LookupCount lookup_products(const KernelTable& kernels, const RowsIn& x, std::size_t rows,
                            const PackedMatrix& matrix, const FrequentProducts& table,
                            const RowsOut& out);

}  // namespace fuselage::cpu
