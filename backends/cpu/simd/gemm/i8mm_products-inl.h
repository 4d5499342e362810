// Products of several rows of bytes by ARM's instruction for matrices: two rows of 8 bytes times
// two columns of 8. Compiled once per level, hence the unusual guard.
#if defined(FUSELAGE_CPU_KERNELS_I8MM_PRODUCTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FUSELAGE_CPU_KERNELS_I8MM_PRODUCTS_INL_H_
#undef FUSELAGE_CPU_KERNELS_I8MM_PRODUCTS_INL_H_
#else
#define FUSELAGE_CPU_KERNELS_I8MM_PRODUCTS_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "backends/cpu/simd/gemm/gemm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fuselage::cpu::HWY_NAMESPACE {

/// The products of a block of rows, the first of them `row`, with a panel, whose products begin at
/// `column`; those from `end` on are not stored.
struct RowPairs {
  const RowsIn& a;
  std::size_t row, rows;
  const Int8Arithmetic& panel;
  const RowsOut& c;
  std::size_t column, end;

  const float* at(std::size_t r) const { return a.data + (row + r) * a.stride; }
  /// Row r behind its scale; beyond the last row that one again.
  const std::int8_t* bytes(std::size_t r) const {
    return reinterpret_cast<const std::int8_t*>(at(std::min(r, rows - 1)) + 1);
  }
};

/// The sums of two rows and a panel's vector of columns: in each half of it, of both rows and two
/// columns.
struct PairOfRows {
  /// The sums of the first or the second row.
  HWY_INLINE IntVector row(bool second) const {
    return IntVector{second ? vcombine_s32(vget_high_s32(lower), vget_high_s32(upper))
                            : vcombine_s32(vget_low_s32(lower), vget_low_s32(upper))};
  }

  int32x4_t lower, upper;
};

/// Stores the products of a block's sums.
template <std::size_t kPairs, class Epilogue>
HWY_INLINE void finish_row_pairs(const RowPairs& block,
                                 const PairOfRows (&sums)[kPairs][kPanelVectors],
                                 const Epilogue& epilogue) {
  const std::size_t width = std::min(kPanel, block.end - block.column);
  HWY_UNROLL(6)
  for (std::size_t r = 0; r < 2 * kPairs; ++r) {
    if (r == block.rows) break;
    Vector products[kPanelVectors];
    HWY_UNROLL(4)
    for (std::size_t v = 0; v < kPanelVectors; ++v)
      products[v] = block.panel.finish(sums[r / 2][v].row(r % 2 == 1), block.at(r), v);
    epilogue(products, block.row + r, block.column);
    store_panels<kPanelVectors>(
        products, block.c.data + (block.row + r) * block.c.stride + block.column, width);
  }
}

/// Multiplies a block of at most 2 * kPairs rows by a panel.
template <std::size_t kPairs, class Epilogue>
HWY_NOINLINE void multiply_row_pairs(const RowPairs& block, const Epilogue& epilogue) {
  constexpr std::size_t kGroup = sizeof(std::int32_t);
  const auto* b = reinterpret_cast<const std::int32_t*>(block.panel.data);
  const std::int8_t* rows[2 * kPairs];
  for (std::size_t r = 0; r < 2 * kPairs; ++r) rows[r] = block.bytes(r);
  PairOfRows sums[kPairs][kPanelVectors];
  for (auto& pair : sums)
    for (PairOfRows& sum : pair) sum = {vdupq_n_s32(0), vdupq_n_s32(0)};
  for (std::size_t i = 0; i < block.panel.groups; i += 2, b += 2 * kPanel) {
    int8x16_t left[kPairs];
    HWY_UNROLL(3)
    for (std::size_t p = 0; p < kPairs; ++p)
      left[p] =
          vcombine_s8(vld1_s8(rows[2 * p] + i * kGroup), vld1_s8(rows[2 * p + 1] + i * kGroup));
    HWY_UNROLL(4)
    for (std::size_t v = 0; v < kPanelVectors; ++v) {
      const std::int32_t* columns = b + v * kLanes;
#if HWY_COMPILER_GCC_ACTUAL
      // Not before the last vector is done: g++ would load the columns of all vectors first, into
      // registers that sums need.
      if (v > 0) {
        int32x4_t last = sums[kPairs - 1][v - 1].upper;
        asm("" : "+r"(columns), "+w"(last));
        sums[kPairs - 1][v - 1].upper = last;
      }
#endif
      // The groups of a column become neighbours.
      const int32x4_t first = vld1q_s32(columns);
      const int32x4_t second = vld1q_s32(columns + kPanel);
      const int8x16_t lower = vreinterpretq_s8_s32(vzip1q_s32(first, second));
      const int8x16_t upper = vreinterpretq_s8_s32(vzip2q_s32(first, second));
      HWY_UNROLL(3)
      for (std::size_t p = 0; p < kPairs; ++p) {
        sums[p][v].lower = vmmlaq_s32(sums[p][v].lower, left[p], lower);
        sums[p][v].upper = vmmlaq_s32(sums[p][v].upper, left[p], upper);
      }
    }
  }
  finish_row_pairs(block, sums, epilogue);
}

/// multiply_rows (gemm_family-inl.h) for at least two rows.
template <class Epilogue>
void multiply_i8mm_rows(const RowsIn& a, std::size_t rows, const PackedMatrix& b, std::size_t first,
                        std::size_t columns, const RowsOut& c, const Epilogue& epilogue) {
  // Their sums fill 24 registers.
  constexpr std::size_t kPairs = 3;
  const std::size_t blocks = (rows + 2 * kPairs - 1) / (2 * kPairs);
  for (std::size_t column = 0; column < columns; column += kPanel) {
    const Int8Arithmetic panel(b, first + column / kPanel);
    // Even shares of the rows.
    for (std::size_t i = 0; i < blocks; ++i) {
      const std::size_t row = i * rows / blocks, end = (i + 1) * rows / blocks;
      const RowPairs block{a, row, end - row, panel, c, column, columns};
      with_tile_rows<kPairs>((block.rows + 1) / 2, [&](auto n) {
        multiply_row_pairs<decltype(n)::value>(block, epilogue);
      });
    }
  }
}

}  // namespace fuselage::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FUSELAGE_CPU_KERNELS_I8MM_PRODUCTS_INL_H_
