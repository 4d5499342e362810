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

#include "backends/cpu/simd/gemm/gemm-inl.h"
#include "backends/cpu/simd/rows.h"
#include "backends/cpu/simd/table.h"

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

// The first of a few blocks fetches the matrix as it goes, and the others find it in a cache. Of so
// many, each fetches its share of the next panel: one that fetched all would wait for memory.
inline constexpr std::size_t kSharingBlocks = 4;

// Block i of `tiles`.
template <std::size_t kRows, class Arithmetic>
HWY_INLINE Block block_of(const Tiles& tiles, const Arithmetic& panel, std::size_t i) {
  constexpr std::size_t kStep = kPanel * Arithmetic::kGroupBytes;
  const std::size_t row = tiles.row + i * kRows;
  const std::size_t number = tiles.block + i;
  Block block{.row = row, .end = tiles.end};
  if (tiles.blocks >= kSharingBlocks) {
    block.stride = kStep / tiles.blocks;
    block.ahead = panel.groups * (kStep + number * block.stride);
  } else if (number == 0) {
    block.stride = kStep;
    block.ahead = kAhead;
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
                                 Epilogue& epilogue) {
  const Arithmetic first(tiles.b, tiles.first);
  for (std::size_t i = 0; i < tiles.count; ++i) {
    const Block block = block_of<kRows>(tiles, first, i);
    for (std::size_t v = begin; v < end; v += kVectors) {
      Arithmetic panels = first;
      panels.skip(v);
      multiply_vectors<kRows, kVectors>(block, panels, tiles.column + v * kLanes, epilogue);
    }
  }
}

// The same by all columns, for blocks of at most kTallTileRows rows.
template <class Arithmetic, class Epilogue>
void multiply_blocks(const Tiles& tiles, std::size_t rows, Epilogue& epilogue) {
  const std::size_t panels = (tiles.end - tiles.column + kPanel - 1) / kPanel;
  const std::size_t end = (tiles.end - tiles.column + kLanes - 1) / kLanes;
  if constexpr (kTallTileRows == 8) {
    constexpr std::size_t kHalf = kPanelVectors / 2;
    if (rows == 7) return multiply_tiles<Arithmetic, 7, kHalf>(tiles, 0, end, epilogue);
    if (rows == 8) return multiply_tiles<Arithmetic, 8, kHalf>(tiles, 0, end, epilogue);
  }
  with_tile_rows(rows, [&](auto n) {
    constexpr std::size_t kRows = decltype(n)::value;
    constexpr std::size_t kTogether = panels_together(kRows);
    const std::size_t together = panels / kTogether * kTogether * kPanelVectors;
    multiply_tiles<Arithmetic, kRows, kTogether * kPanelVectors>(tiles, 0, together, epilogue);
    if constexpr (kTogether > 1)
      multiply_tiles<Arithmetic, kRows, kPanelVectors>(tiles, together, end, epilogue);
  });
}

/// Rows that are prepared, times the panels of b from `first` on that `columns` columns take. c
/// begins with the first of these.
template <class Arithmetic, class Epilogue>
void multiply_rows(const RowsIn& a, std::size_t rows, const PackedMatrix& b, std::size_t first,
                   std::size_t columns, const RowsOut& c, Epilogue& epilogue) {
  // Even shares: 10 rows are 5 and 5, 64 are 9 times 6 and twice 5.
  const std::size_t blocks = rows <= kTallTileRows ? 1 : (rows + kTileRows - 1) / kTileRows;
  const std::size_t less = rows / blocks;
  const std::size_t larger = rows % blocks;
  // All rows go over a panel while it is in cache; a lone block has nothing to gain from that.
  const std::size_t step = blocks == 1 ? columns : kPanel;
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

/// multiply_rows() without an epilogue. It takes long to compile: plain_products-inl.h defines it,
/// and the files gemm_*.cpp make instances.
template <class Arithmetic>
void multiply_plainly(const RowsIn& a, std::size_t rows, const PackedMatrix& b, std::size_t first,
                      std::size_t columns, const RowsOut& c);

inline void gemm_panels(const RowsIn& a, std::size_t rows, const PackedMatrix& b, std::size_t first,
                        std::size_t last, const RowsOut& c) {
  check(a.columns == b.row_elements(), "gemm: a.columns is not what a row of the matrix takes");
  const std::size_t begin = first * kPanel;
  const std::size_t columns = std::min(last * kPanel, b.n()) - begin;
  with_arithmetic(b, [&](auto type) {
    using Arithmetic = typename decltype(type)::type;
    const std::size_t share = Arithmetic::kPrepares ? kPreparedRows : rows;
    for (std::size_t r = 0; r < rows; r += share) {
      const std::size_t count = std::min(share, rows - r);
      const RowsIn prepared = prepared_rows<Arithmetic>(rows_from(a, r), count, b.k());
      multiply_plainly<Arithmetic>(prepared, count, b, first, columns,
                                   {c.data + r * c.stride + begin, c.stride});
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
