// Products of many rows of bytes in AMX's tile registers, whose operands are rows and panels as
// they are: 16 groups of 16 columns are a tile. Compiled once per target, hence the unusual guard.
#if defined(FUSELAGE_CPU_KERNELS_AMX_PRODUCTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FUSELAGE_CPU_KERNELS_AMX_PRODUCTS_INL_H_
#undef FUSELAGE_CPU_KERNELS_AMX_PRODUCTS_INL_H_
#else
#define FUSELAGE_CPU_KERNELS_AMX_PRODUCTS_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include "backends/cpu/simd/gemm/amx_tiles-inl.h"
#include "backends/cpu/simd/gemm/gemm-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fuselage::cpu::HWY_NAMESPACE {

// Fewer rows are faster in vector registers.
inline constexpr std::size_t kFewestAmxRows = 6;

// Bytes of a group of a panel, and the groups of a tile.
inline constexpr std::size_t kGroupOfPanel = kPanel * Int8Arithmetic::kGroupBytes;
inline constexpr std::size_t kAmxGroups = kAmxRows;
static_assert(kLanes * Int8Arithmetic::kGroupBytes == kAmxRowBytes && kPanelVectors == 4);

/// A panel and its last groups, which fill no tile, with zeros behind them. Then it does not matter
/// what the rows have behind their last integers.
class AmxPanel {
 public:
  AmxPanel(const PackedMatrix& b, std::size_t number)
      : columns_(b, number), whole_(b.groups() / kAmxGroups) {
    const std::size_t rest = b.groups() % kAmxGroups;
    if (rest == 0) return;
    std::memcpy(rest_, columns_.data + whole_ * sizeof rest_, rest * kGroupOfPanel);
    std::memset(rest_ + rest * kGroupOfPanel, 0, (kAmxGroups - rest) * kGroupOfPanel);
    has_rest_ = true;
  }

  /// The scales and corrections from a vector of columns on.
  Int8Arithmetic columns(std::size_t vector) const {
    Int8Arithmetic columns = columns_;
    columns.skip(vector);
    return columns;
  }

  /// Number of tiles of groups.
  std::size_t tiles() const { return whole_ + (has_rest_ ? 1 : 0); }

  /// Calls f(groups) for each tile of groups. Meanwhile share `number` of `shares` of the next
  /// panel is prefetched.
  template <class F>
  HWY_INLINE void for_each_tile(std::size_t number, std::size_t shares, const F& f) const {
    const std::size_t bytes = columns_.groups * kGroupOfPanel;
    const std::size_t step = bytes / shares / tiles();
    const std::byte* next = columns_.data + bytes + number * (bytes / shares);
    for (std::size_t i = 0; i < whole_; ++i, next += step) {
      f(columns_.data + i * sizeof rest_);
      for (std::size_t line = 0; line < step; line += kCacheLine)
        _mm_prefetch(reinterpret_cast<const char*>(next + line), _MM_HINT_T1);
    }
    if (has_rest_) f(rest_);
  }

 private:
  const Int8Arithmetic columns_;
  std::size_t whole_;
  bool has_rest_ = false;
  alignas(64) std::byte rest_[kAmxGroups * kGroupOfPanel];
};

/// Rows, for tiles of `height` rows each, and the destination of their products.
struct AmxRows {
  const RowsIn& a;
  std::size_t rows, height;
  const RowsOut& c;
  std::size_t end;  // the number of products of a row

  const float* row(std::size_t r) const { return a.data + r * a.stride; }
  /// Behind their scale.
  const std::byte* bytes(std::size_t r) const {
    return reinterpret_cast<const std::byte*>(row(r) + 1);
  }
  std::size_t stride() const { return a.stride * sizeof(float); }
};

/// The sums of a tile of rows and 2 of columns.
struct AmxSums {
  static constexpr std::size_t kVectors = 2, kStride = kVectors * kAmxRowBytes;

  /// Converts row i to products.
  template <class Epilogue>
  HWY_INLINE void finish(std::size_t i, const AmxRows& rows, const Epilogue& epilogue) const {
    const std::size_t r = row + i;
    Vector products[kVectors];
    HWY_UNROLL(2)
    for (std::size_t v = 0; v < kVectors; ++v)
      products[v] = columns->finish(as_sums(hn::Load(IntTag(), sums + (i * kVectors + v) * kLanes)),
                                    rows.row(r), v);
    epilogue(products, r, column);
    store_panels<kVectors>(products, rows.c.data + r * rows.c.stride + column,
                           std::min(kVectors * kLanes, rows.end - column));
  }

  std::optional<Int8Arithmetic> columns;
  std::size_t row, column;  // the first ones, among the products
  alignas(64) std::int32_t sums[kAmxRows * kVectors * kLanes];
};

/// Products of a thread's rows with one panel after another. While a block is multiplied, the sums
/// of the block before become products.
template <class Epilogue>
class AmxProducts {
 public:
  AmxProducts(const AmxRows& rows, const Epilogue& epilogue)
      : rows_(rows), epilogue_(epilogue), registers_(rows.height) {}

  /// Multiplies all rows by a panel, whose products begin at `column`.
  void multiply(const AmxPanel& panel, std::size_t column) {
    const std::size_t tiles = (rows_.rows + rows_.height - 1) / rows_.height;
    Block block{.column = column, .blocks = tiles / 2 * 2 + tiles % 2};
    for (block.vector = 0; block.vector < kPanelVectors; block.vector += 2)
      for (block.row = 0; block.row + rows_.height < rows_.rows; block.row += 2 * rows_.height)
        multiply<2>(panel, block);
    block.vector = 0;
    block.row = (tiles - 1) * rows_.height;
    if (tiles % 2 == 1) multiply<1>(panel, block);
  }

  /// Converts the sums of the last block.
  void finish() { finish_rows(2 * kAmxRows); }

 private:
  /// A block's place among the rows, the panel's vectors and the panel's blocks.
  struct Block {
    std::size_t column, blocks;  // of the panel
    std::size_t row = 0, vector = 0, number = 0;
  };

  /// The products of two tiles of rows and two of columns, or of one and four.
  template <std::size_t kRowTiles>
  HWY_NOINLINE void multiply(const AmxPanel& panel, Block& block) {
    constexpr std::size_t kFirst = kAmxSums, kSecond = kAmxSums + 2;
    const std::size_t second_row = kRowTiles == 2 ? block.row + rows_.height : block.row;
    const std::size_t second_vector = kRowTiles == 2 ? block.vector : 2;
    load_corrections<kFirst>(panel.columns(block.vector));
    load_corrections<kSecond>(panel.columns(second_vector));
    const std::size_t share = (2 * kAmxRows + panel.tiles() - 1) / panel.tiles();
    const std::byte* left[] = {rows_.bytes(block.row), rows_.bytes(second_row)};
    panel.for_each_tile(block.number++, block.blocks, [&](const std::byte* groups) {
      multiply_tiles<kRowTiles>(left, groups + block.vector * kAmxRowBytes);
      for (const std::byte*& bytes : left) bytes += kAmxRowBytes;
      finish_rows(share);
    });
    finish_rows(2 * kAmxRows);
    now_ ^= 1;
    take<kFirst>(0, panel.columns(block.vector), block.row, block.column + block.vector * kLanes);
    take<kSecond>(1, panel.columns(second_vector), second_row,
                  block.column + second_vector * kLanes);
    finished_ = 0;
  }

  template <int kRegister>
  static HWY_INLINE void load_corrections(const Int8Arithmetic& columns) {
    // A stride of 0: the same in each row.
    amx_load<kRegister>(columns.corrections, 0);
    amx_load<kRegister + 1>(columns.corrections + kLanes, 0);
  }

  template <std::size_t kRowTiles>
  HWY_INLINE void multiply_tiles(const std::byte* const* left, const std::byte* right) const {
    constexpr int kA = kAmxLeft, kB = kAmxRight, kSums = kAmxSums;
    amx_load<kA>(left[0], rows_.stride());
    amx_load<kB>(right, kGroupOfPanel);
    amx_add_bytes<kSums, kA, kB>();
    amx_load<kB + 1>(right + kAmxRowBytes, kGroupOfPanel);
    amx_add_bytes<kSums + 1, kA, kB + 1>();
    if constexpr (kRowTiles == 2) {
      amx_load<kA + 1>(left[1], rows_.stride());
      amx_add_bytes<kSums + 2, kA + 1, kB>();
      amx_add_bytes<kSums + 3, kA + 1, kB + 1>();
    } else {
      amx_load<kB>(right + 2 * kAmxRowBytes, kGroupOfPanel);
      amx_add_bytes<kSums + 2, kA, kB>();
      amx_load<kB + 1>(right + 3 * kAmxRowBytes, kGroupOfPanel);
      amx_add_bytes<kSums + 3, kA, kB + 1>();
    }
  }

  template <int kRegister>
  HWY_INLINE void take(std::size_t part, const Int8Arithmetic& columns, std::size_t row,
                       std::size_t column) {
    AmxSums& sums = sums_[now_][part];
    sums.columns = columns;
    sums.row = row;
    sums.column = column;
    amx_store<kRegister>(sums.sums, AmxSums::kStride);
    amx_store<kRegister + 1>(sums.sums + kLanes, AmxSums::kStride);
    rows_of_[part] = column < rows_.end ? std::min(rows_.height, rows_.rows - row) : 0;
  }

  /// Converts up to `count` of the last block's rows that are left.
  HWY_INLINE void finish_rows(std::size_t count) {
    const std::size_t end = std::min(finished_ + count, rows_of_[0] + rows_of_[1]);
    for (; finished_ < end; ++finished_) {
      const bool second = finished_ >= rows_of_[0];
      sums_[now_][second].finish(finished_ - (second ? rows_of_[0] : 0), rows_, epilogue_);
    }
  }

  const AmxRows& rows_;
  const Epilogue& epilogue_;
  const AmxRegisters registers_;
  AmxSums sums_[2][2];
  std::size_t now_ = 0;
  std::size_t finished_ = 0, rows_of_[2] = {};  // of the last block
};

/// multiply_rows (gemm_family-inl.h) for at least kFewestAmxRows rows.
template <class Epilogue>
void multiply_amx_rows(const RowsIn& a, std::size_t rows, const PackedMatrix& b, std::size_t first,
                       std::size_t columns, const RowsOut& c, const Epilogue& epilogue) {
  const std::size_t tiles = (rows + kAmxRows - 1) / kAmxRows;
  const AmxRows amx_rows{
      .a = a, .rows = rows, .height = (rows + tiles - 1) / tiles, .c = c, .end = columns};
  AmxProducts<Epilogue> products(amx_rows, epilogue);
  for (std::size_t column = 0; column < columns; column += kPanel)
    products.multiply(AmxPanel(b, first++), column);
  products.finish();
}

}  // namespace fuselage::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FUSELAGE_CPU_KERNELS_AMX_PRODUCTS_INL_H_
