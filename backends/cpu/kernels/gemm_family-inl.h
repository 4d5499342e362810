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

template <class Arithmetic, std::size_t kRows>
HWY_NOINLINE void multiply_panels(const Block& block, const PackedMatrix& b, std::size_t first,
                                  std::size_t last) {
  constexpr std::size_t kTogether = panels_together(kRows);
  NoWork none;
  std::size_t p = first;
  for (; p + kTogether <= last; p += kTogether) {
    const std::size_t column = p * kPanel;
    multiply<kRows, kTogether>(block, Arithmetic(b, p), column,
                               std::min(kTogether * kPanel, b.n() - column), none);
  }
  if constexpr (kTogether > 1)
    for (; p < last; ++p) {
      const std::size_t column = p * kPanel;
      multiply<kRows, 1>(block, Arithmetic(b, p), column, std::min(kPanel, b.n() - column), none);
    }
}

template <class Arithmetic, std::size_t kRows>
HWY_NOINLINE void multiply_half_panels(const Block& block, const PackedMatrix& b, std::size_t first,
                                       std::size_t last) {
  constexpr std::size_t kVectors = kPanelVectors / 2;
  NoWork none;
  const std::size_t end = std::min(last * kPanel, b.n());
  for (std::size_t column = first * kPanel; column < end; column += kVectors * kLanes) {
    Arithmetic half(b, column / kPanel);
    half.skip(column % kPanel / kLanes);
    multiply_vectors<kRows, kVectors>(block, half, column,
                                      std::min(kVectors * kLanes, b.n() - column), none);
  }
}

/// A block of up to kTallTileRows rows.
template <class Arithmetic>
void multiply_block(const Block& block, std::size_t rows, const PackedMatrix& b, std::size_t first,
                    std::size_t last) {
  if constexpr (kTallTileRows == 8) {
    if (rows == 7) return multiply_half_panels<Arithmetic, 7>(block, b, first, last);
    if (rows == 8) return multiply_half_panels<Arithmetic, 8>(block, b, first, last);
  }
  with_tile_rows(rows, [&](auto n) {
    multiply_panels<Arithmetic, decltype(n)::value>(block, b, first, last);
  });
}

template <class Arithmetic>
void multiply_rows(const RowsIn& a, std::size_t rows, const PackedMatrix& b, std::size_t first,
                   std::size_t last, const RowsOut& c) {
  const std::size_t blocks = rows <= kTallTileRows ? 1 : (rows + kTileRows - 1) / kTileRows;
  // All rows go over a panel while it is in cache; a lone block has nothing to gain from that.
  const std::size_t step = blocks == 1 ? last - first : 1;
  for (std::size_t p = first; p < last; p += step)
    for (std::size_t i = 0; i < blocks; ++i) {
      // Even shares: 10 rows are 5 and 5.
      const std::size_t begin = rows * i / blocks;
      const std::size_t count = rows * (i + 1) / blocks - begin;
      Block block;
      for (std::size_t r = 0; r < count; ++r) {
        block.a[r] = row_of(a, begin + r, b.row_elements());
        block.c[r] = c.data + (begin + r) * c.stride;
      }
      multiply_block<Arithmetic>(block, count, b, p, p + step);
    }
}

inline void gemm_panels(const RowsIn& a, std::size_t rows, const PackedMatrix& b, std::size_t first,
                        std::size_t last, const RowsOut& c) {
  check(a.columns == b.row_elements(), "gemm: a.columns is not what a row of the matrix takes");
  with_arithmetic(b, [&](auto type) {
    using Arithmetic = typename decltype(type)::type;
    const std::size_t share = Arithmetic::kPrepares ? kPreparedRows : rows;
    for (std::size_t r = 0; r < rows; r += share) {
      const std::size_t count = std::min(share, rows - r);
      multiply_rows<Arithmetic>(prepared_rows<Arithmetic>(rows_from(a, r), count, b.k()), count, b,
                                first, last, {c.data + r * c.stride, c.stride});
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
