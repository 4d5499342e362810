#include "backends/cpu/simd/rows/lookup.h"

#include <algorithm>
#include <array>

#include "fuselage/base/error.h"

namespace fuselage::cpu {
namespace {

/// Rows computed at a time: enough for full speed of a product.
constexpr std::size_t kBlock = 192;

/// The row of an entry's product, or nullptr.
const float* find(const FrequentProducts& table, std::int32_t entry, std::size_t columns) {
  const std::int32_t row = table.rank ? table.rank[entry] : entry;
  // Unsigned, so that a negative rank is out of range.
  if (static_cast<std::uint32_t>(row) >= table.rows) return nullptr;
  return table.data + static_cast<std::size_t>(row) * columns;
}

/// Computes the products that the table lacks into the first rows of `out`, then moves each to its
/// own row, last one first, so that none is overwritten before it is moved. Returns their number.
std::size_t compute_missing(const KernelTable& kernels, const RowsIn& x, std::size_t rows,
                            const PackedMatrix& matrix, const FrequentProducts& table,
                            const RowsOut& out) {
  std::array<std::int32_t, kBlock> entries;
  std::array<std::size_t, kBlock> places;
  std::size_t count = 0;
  for (std::size_t r = 0; r < rows; ++r) {
    if (x.rows[r] < 0 || find(table, x.rows[r], matrix.n())) continue;
    entries[count] = x.rows[r];
    places[count++] = r;
  }
  if (count == 0) return 0;
  RowsIn missing = x;
  missing.rows = entries.data();
  kernels.gemm(missing, count, matrix, out);
  for (std::size_t i = count; i-- > 0;)
    if (places[i] != i)
      std::copy_n(out.data + i * out.stride, matrix.n(), out.data + places[i] * out.stride);
  return count;
}

}  // namespace

LookupCount lookup_products(const KernelTable& kernels, const RowsIn& x, std::size_t rows,
                            const PackedMatrix& matrix, const FrequentProducts& table,
                            const RowsOut& out) {
  LookupCount counted;
  if (rows == 0) return counted;
  check(x.rows != nullptr && x.fallback == nullptr, "lookup_products: rows need an index alone");
  for (std::size_t first = 0; first < rows; first += kBlock) {
    const std::size_t n = std::min(kBlock, rows - first);
    RowsIn block = x;
    block.rows += first;
    const RowsOut block_out{out.data + first * out.stride, out.stride};
    const std::size_t missing = compute_missing(kernels, block, n, matrix, table, block_out);
    std::size_t found = 0;
    for (std::size_t r = 0; r < n; ++r) {
      float* to = block_out.data + r * out.stride;
      if (block.rows[r] < 0) {
        std::fill_n(to, matrix.n(), 0.0f);
      } else if (const float* from = find(table, block.rows[r], matrix.n())) {
        std::copy_n(from, matrix.n(), to);
        ++found;
      }
    }
    counted.lookups += found + missing;
    counted.hits += found;
  }
  return counted;
}

}  // namespace fuselage::cpu
