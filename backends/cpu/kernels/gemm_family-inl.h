// The kernels gemm and gemm_panels. Compiled once a target, hence the unusual guard.
#if defined(FUSELAGE_CPU_KERNELS_GEMM_FAMILY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FUSELAGE_CPU_KERNELS_GEMM_FAMILY_INL_H_
#undef FUSELAGE_CPU_KERNELS_GEMM_FAMILY_INL_H_
#else
#define FUSELAGE_CPU_KERNELS_GEMM_FAMILY_INL_H_
#endif

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "backends/cpu/kernels/gemm-inl.h"
#include "backends/cpu/kernels/rows.h"
#include "backends/cpu/kernels/table.h"

HWY_BEFORE_NAMESPACE();
namespace fuselage::cpu::HWY_NAMESPACE {

// Rows that are prepared at once, which bounds the memory for them.
inline constexpr std::size_t kPreparedRows = 16 * kTileRows;

/// Rows of vectors of k elements in the form that an arithmetic (or a dot) takes; at most
/// kPreparedRows of them, and valid until the thread asks for more by the same number, where it
/// prepares any.
template <class Arithmetic>
RowsIn prepared_rows(const RowsIn& a, std::size_t rows, std::size_t k, std::size_t number = 0) {
  if constexpr (!Arithmetic::kPrepares) {
    return a;
  } else {
    static thread_local std::array<std::vector<float>, kMaxEnsemble> buffers;
    std::vector<float>& buffer = buffers[number];
    const std::size_t elements = Arithmetic::prepared_elements(k);
    if (buffer.size() < kPreparedRows * elements) buffer.resize(kPreparedRows * elements);
    for (std::size_t r = 0; r < rows; ++r)
      Arithmetic::prepare(row_of(a, r, a.columns), k, buffer.data() + r * elements);
    return {.data = buffer.data(), .stride = elements, .columns = elements};
  }
}

/// The same in the form that products with b take.
inline RowsIn prepared_for(const PackedMatrix& b, const RowsIn& a, std::size_t rows,
                           std::size_t number = 0) {
  RowsIn prepared;
  with_arithmetic(b, [&](auto type) {
    prepared = prepared_rows<typename decltype(type)::type>(a, rows, b.k(), number);
  });
  return prepared;
}

// Functions of their own for each shape: with several in one, sums would leave their registers.
// A block's products begin with those of panel `first`.

template <class Arithmetic, std::size_t kRows, class Work>
HWY_NOINLINE void multiply_panels(const Block& block, const PackedMatrix& b, std::size_t first,
                                  Work& work) {
  constexpr std::size_t kTogether = panels_together(kRows);
  const std::size_t panels = (block.width + kPanel - 1) / kPanel;
  std::size_t p = 0;
  for (; p + kTogether <= panels; p += kTogether)
    multiply<kRows, kTogether>(block, Arithmetic(b, first + p), p * kPanel, work);
  if constexpr (kTogether > 1)
    for (; p < panels; ++p) multiply<kRows, 1>(block, Arithmetic(b, first + p), p * kPanel, work);
}

template <class Arithmetic, std::size_t kRows, class Work>
HWY_NOINLINE void multiply_half_panels(const Block& block, const PackedMatrix& b, std::size_t first,
                                       Work& work) {
  constexpr std::size_t kVectors = kPanelVectors / 2;
  for (std::size_t column = 0; column < block.width; column += kVectors * kLanes) {
    Arithmetic half(b, first + column / kPanel);
    half.skip(column % kPanel / kLanes);
    multiply_vectors<kRows, kVectors>(block, half, column, work);
  }
}

/// A block of up to kTallTileRows rows.
template <class Arithmetic, class Work>
void multiply_block(const Block& block, std::size_t rows, const PackedMatrix& b, std::size_t first,
                    Work& work) {
  if constexpr (kTallTileRows == 8) {
    if (rows == 7) return multiply_half_panels<Arithmetic, 7>(block, b, first, work);
    if (rows == 8) return multiply_half_panels<Arithmetic, 8>(block, b, first, work);
  }
  with_tile_rows(rows, [&](auto n) {
    multiply_panels<Arithmetic, decltype(n)::value>(block, b, first, work);
  });
}

/// Rows that are prepared, times the panels of b from `first` on that `columns` columns take. c
/// begins with the first of these. The work is what `multiply` does besides.
template <class Arithmetic, class Work>
void multiply_rows(const RowsIn& a, std::size_t rows, const PackedMatrix& b, std::size_t first,
                   std::size_t columns, const RowsOut& c, Work& work) {
  const std::size_t blocks = rows <= kTallTileRows ? 1 : (rows + kTileRows - 1) / kTileRows;
  // All rows go over a panel while it is in cache; a lone block has nothing to gain from that.
  const std::size_t step = blocks == 1 ? columns : kPanel;
  for (std::size_t column = 0; column < columns; column += step)
    for (std::size_t i = 0; i < blocks; ++i) {
      // Even shares: 10 rows are 5 and 5.
      const std::size_t begin = rows * i / blocks;
      const std::size_t count = rows * (i + 1) / blocks - begin;
      Block block{.row = begin, .column = column, .width = std::min(step, columns - column)};
      for (std::size_t r = 0; r < count; ++r) {
        block.a[r] = row_of(a, begin + r, b.row_elements());
        block.c[r] = c.data + (begin + r) * c.stride + column;
      }
      multiply_block<Arithmetic>(block, count, b, first + column / kPanel, work);
    }
}

inline void gemm_panels(const RowsIn& a, std::size_t rows, const PackedMatrix& b, std::size_t first,
                        std::size_t last, const RowsOut& c) {
  check(a.columns == b.row_elements(), "gemm: a.columns is not what a row of the matrix takes");
  NoWork none;
  const std::size_t begin = first * kPanel;
  const std::size_t columns = std::min(last * kPanel, b.n()) - begin;
  with_arithmetic(b, [&](auto type) {
    using Arithmetic = typename decltype(type)::type;
    const std::size_t share = Arithmetic::kPrepares ? kPreparedRows : rows;
    for (std::size_t r = 0; r < rows; r += share) {
      const std::size_t count = std::min(share, rows - r);
      const RowsIn prepared = prepared_rows<Arithmetic>(rows_from(a, r), count, b.k());
      multiply_rows<Arithmetic>(prepared, count, b, first, columns,
                                {c.data + r * c.stride + begin, c.stride}, none);
    }
  });
}

inline void gemm(const RowsIn& a, std::size_t rows, const PackedMatrix& b, const RowsOut& c) {
  gemm_panels(a, rows, b, 0, b.panel_count(), c);
}

inline void set_gemm(KernelTable& table) {
  table.panel_layout = kPanelLayout;
  table.gemm = gemm;
  table.gemm_panels = gemm_panels;
}

}  // namespace fuselage::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FUSELAGE_CPU_KERNELS_GEMM_FAMILY_INL_H_
