// The definition of multiply_rows (gemm_family-inl.h). Compiled once per target, hence the unusual
// guard.
#if defined(FUSELAGE_CPU_KERNELS_PRODUCTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FUSELAGE_CPU_KERNELS_PRODUCTS_INL_H_
#undef FUSELAGE_CPU_KERNELS_PRODUCTS_INL_H_
#else
#define FUSELAGE_CPU_KERNELS_PRODUCTS_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "backends/cpu/simd/gemm/gemm_family-inl.h"
#ifdef FUSELAGE_AMX
#include "backends/cpu/simd/gemm/amx_products-inl.h"
#endif
#ifdef FUSELAGE_I8MM
#include "backends/cpu/simd/gemm/i8mm_products-inl.h"
#endif

/// Instantiates multiply_rows for one type of matrix.
#define FUSELAGE_INSTANTIATE_PRODUCTS(Arithmetic, Epilogue)                                \
  template void multiply_rows<Arithmetic>(const RowsIn&, std::size_t, const PackedMatrix&, \
                                          std::size_t, std::size_t, const RowsOut&,        \
                                          const Epilogue&)

HWY_BEFORE_NAMESPACE();
namespace fuselage::cpu::HWY_NAMESPACE {

// Blocks of rows, one after another, times the columns of b from panel `first` on. These have the
// numbers `column` to `end` among the products.
struct Tiles {
  const RowsIn& a;
  const PackedMatrix& b;
  std::size_t first;
  const RowsOut& c;
  std::size_t row, count;     // the first row, and blocks
  std::size_t block, blocks;  // the first one's number among all blocks of these columns
  std::size_t column, end;
};

// Block i of `tiles`.
template <std::size_t kRows, std::size_t kVectors, class Arithmetic>
HWY_INLINE Block block_of(const Tiles& tiles, const Arithmetic& panel, std::size_t i) {
  constexpr std::size_t kStep = kVectors * kLanes * Arithmetic::kGroupBytes;
  const std::size_t row = tiles.row + i * kRows;
  Block block{.row = row, .end = tiles.end};
  // Each prefetches its share of the next panels: one block that fetched all would wait for memory.
  // Of a single block hardware prefetches the panels, unless it reads two of them at a time.
  if (tiles.blocks > 1 || (kHasRowSteps<Arithmetic> && kRows > 1)) {
    block.stride = (kStep + tiles.blocks - 1) / tiles.blocks;
    block.ahead = panel.groups * (kStep + (tiles.block + i) * block.stride);
  }
  for (std::size_t r = 0; r < kRows; ++r) {
    block.a[r] = row_of(tiles.a, row + r, tiles.a.columns);
    block.c[r] = tiles.c.data + (row + r) * tiles.c.stride;
  }
  return block;
}

// Blocks of kRows rows by the vectors of columns from `begin` to `end`, kVectors at a time. A
// function of its own for each shape: with several in one, sums would leave their registers.
template <class Arithmetic, std::size_t kRows, std::size_t kVectors, class Epilogue>
HWY_NOINLINE void multiply_tiles(const Tiles& tiles, std::size_t begin, std::size_t end,
                                 const Epilogue& epilogue) {
  const Arithmetic first(tiles.b, tiles.first);
  for (std::size_t i = 0; i < tiles.count; ++i) {
    const Block block = block_of<kRows, kVectors>(tiles, first, i);
    for (std::size_t v = begin; v < end; v += kVectors) {
      Arithmetic panels = first;
      panels.skip(v);
      multiply_vectors<kRows, kVectors>(block, panels, tiles.column + v * kLanes, epilogue);
    }
  }
}

// The same for all columns and blocks of at most as many rows as a tile has.
template <class Arithmetic, class Epilogue>
void multiply_blocks(const Tiles& tiles, std::size_t rows, const Epilogue& epilogue) {
  const std::size_t panels = (tiles.end - tiles.column + kPanel - 1) / kPanel;
  const std::size_t end = (tiles.end - tiles.column + kLanes - 1) / kLanes;
  with_tile_rows<Arithmetic::kTileRows>(rows, [&](auto n) {
    constexpr std::size_t kRows = decltype(n)::value;
    constexpr std::size_t kTogether = panels_together<Arithmetic>(kRows);
    const std::size_t together = panels / kTogether * kTogether * kPanelVectors;
    multiply_tiles<Arithmetic, kRows, kTogether * kPanelVectors>(tiles, 0, together, epilogue);
    if constexpr (kTogether > 1)
      multiply_tiles<Arithmetic, kRows, kPanelVectors>(tiles, together, end, epilogue);
  });
}

template <class Arithmetic, class Epilogue>
void multiply_rows(const RowsIn& a, std::size_t rows, const PackedMatrix& b, std::size_t first,
                   std::size_t columns, const RowsOut& c, const Epilogue& epilogue) {
#ifdef FUSELAGE_AMX
  if constexpr (std::is_same_v<Arithmetic, Int8Arithmetic>)
    if (rows >= kFewestAmxRows && b.k() > 0)
      return multiply_amx_rows(a, rows, b, first, columns, c, epilogue);
#endif
#ifdef FUSELAGE_I8MM
  if constexpr (std::is_same_v<Arithmetic, Int8Arithmetic>)
    if (rows > 1) return multiply_i8mm_rows(a, rows, b, first, columns, c, epilogue);
#endif
  // Even shares: of tiles of 6 rows, 10 are 5 and 5, 64 are 9 times 6 and twice 5.
  constexpr std::size_t kTileRows = Arithmetic::kTileRows;
  const std::size_t blocks = rows <= kTileRows ? 1 : (rows + kTileRows - 1) / kTileRows;
  const std::size_t less = rows / blocks;
  const std::size_t larger = rows % blocks;
  // All rows are multiplied by panels while they are in the cache; a single block gains nothing
  // from that.
  const std::size_t step = blocks == 1 ? columns : kPanel * panels_together<Arithmetic>(kTileRows);
  for (std::size_t column = 0; column < columns; column += step) {
    Tiles tiles{.a = a,
                .b = b,
                .first = first + column / kPanel,
                .c = c,
                .row = 0,
                .count = larger,
                .block = 0,
                .blocks = blocks,
                .column = column,
                .end = std::min(column + step, columns)};
    if (larger > 0) multiply_blocks<Arithmetic>(tiles, less + 1, epilogue);
    tiles.row = larger * (less + 1);
    tiles.count = blocks - larger;
    tiles.block = larger;
    multiply_blocks<Arithmetic>(tiles, less, epilogue);
  }
}

}  // namespace fuselage::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FUSELAGE_CPU_KERNELS_PRODUCTS_INL_H_
