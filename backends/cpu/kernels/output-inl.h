// What output layers share: the logits of a tile of rows and columns, taken in while the next tile
// is multiplied. Compiled once a target, hence the unusual guard.
#if defined(FUSELAGE_CPU_KERNELS_OUTPUT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FUSELAGE_CPU_KERNELS_OUTPUT_INL_H_
#undef FUSELAGE_CPU_KERNELS_OUTPUT_INL_H_
#else
#define FUSELAGE_CPU_KERNELS_OUTPUT_INL_H_
#endif

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "backends/cpu/kernels/best.h"
#include "backends/cpu/kernels/gemm_family-inl.h"
#include "backends/cpu/kernels/math-inl.h"
#include "backends/cpu/kernels/rows.h"

HWY_BEFORE_NAMESPACE();
namespace fuselage::cpu::HWY_NAMESPACE {

inline constexpr float kLowest = Best::kLowest;

// Sums go block by block, so that a vocabulary's worth of terms keeps its precision.
inline constexpr std::size_t kBlock = 1024;

// Rows that go over a panel while it is in cache.
inline constexpr std::size_t kMaxRows = 96;

/// An output layer, and the bias of its last columns up to a whole vector.
struct Layer {
  Layer() = default;
  Layer(const PackedMatrix& matrix, const float* row) : b(&matrix), bias(row) {
    const std::size_t rest = b->n() % kLanes;
    if (bias) std::copy_n(bias + b->n() - rest, rest, tail.begin());
  }

  const float* bias_at(std::size_t column) const {
    return column + kLanes <= b->n() ? bias + column : tail.data();
  }

  const PackedMatrix* b = nullptr;
  const float* bias = nullptr;
  std::array<float, kLanes> tail{};
};

/// What is wanted of the logits.
enum class Wanted : std::uint8_t {
  best,           // the k best
  best_and_sum,   // and the sum of their exponentials
  lowest_columns  // columns of -infinity or NaN for what is missing among the best
};

/// The sum of the exponentials of some of a row's logits, relative to the largest of these. Its
/// lanes are those of LaneSum.
struct ExpSum {
  std::array<float, kSumLanes> total{};
  std::array<float, kSumLanes> block{};
  float top = kLowest;
  float center = 0;  // `top`, or 0 while that is -infinity: the sums are of exp(logit - center)

  HWY_INLINE bool any_larger(Vector logits) const {
    return !hn::AllFalse(Tag(), hn::Gt(logits, broadcast(top)));
  }

  /// Adds a vector of logits of which none is larger than the top.
  HWY_INLINE void add(Vector logits, std::size_t column) {
    float* sums = block.data() + (kLanes < kSumLanes ? column % kSumLanes : 0);
    store(hn::Add(load(sums), terms(logits)), sums);
  }

  /// Adds a vector of logits of which some may be. One after the other, since a sum's bits depend
  /// on when the top rises, and must not depend on a vector's size.
  HWY_NOINLINE void add_larger(const float* logits, std::size_t column) {
    if (!any_larger(load(logits))) return add(load(logits), column);
    HWY_ALIGN float added[kLanes];
    store(terms(load(logits)), added);
    for (std::size_t i = 0; i < kLanes; ++i) {
      // NaN is not larger.
      if (logits[i] > top) {
        raise_to(logits[i]);
        store(terms(load(logits)), added);
      }
      block[(column + i) % kSumLanes] += added[i];
    }
  }

  void end_block() {
    for_each_lanes([](float* totals, float* sums)
                       HWY_ATTR { store(hn::Add(load(totals), load(sums)), totals); });
    block.fill(0);
  }

  float value() const {
    LaneSum sum;
    for (std::size_t v = 0; v < LaneSum::kVectors; ++v)
      sum.parts[v] = hn::Add(load(total.data() + v * kLanes), load(block.data() + v * kLanes));
    return sum.total();
  }

 private:
  HWY_INLINE Vector terms(Vector logits) const {
    return exp_of_nonpositive(hn::Sub(logits, broadcast(center)));
  }

  void raise_to(float logit) {
    // exp(-infinity) at first, when the sums are 0 or NaN.
    const Vector factor = exp_of_nonpositive(broadcast(top - logit));
    for_each_lanes([factor](float* totals, float* sums) HWY_ATTR {
      store(hn::Mul(load(totals), factor), totals);
      store(hn::Mul(load(sums), factor), sums);
    });
    top = center = logit;
  }

  template <class F>
  HWY_INLINE void for_each_lanes(const F& f) {
    for (std::size_t i = 0; i < kSumLanes; i += kLanes) f(total.data() + i, block.data() + i);
  }
};

/// The best of some of a row's columns.
struct Ranking {
  float threshold = kLowest;  // of `best`
  Best best;

  HWY_INLINE bool any_larger(Vector values) const {
    return !hn::AllFalse(Tag(), hn::Gt(values, broadcast(threshold)));
  }

  /// Takes those of a vector of columns that exceed the threshold.
  void take_larger(const float* values, std::size_t column) {
    std::uint64_t larger = 0;
    hn::StoreMaskBits(Tag(), hn::Gt(load(values), broadcast(threshold)),
                      reinterpret_cast<std::uint8_t*>(&larger));
    for (; larger != 0; larger &= larger - 1) {
      const auto i = static_cast<std::size_t>(std::countr_zero(larger));
      if (values[i] > best.threshold()) best.insert(values[i], column + i);
    }
    threshold = best.threshold();
  }

  /// Takes those of a vector of columns, of `columns` in all, that never exceed a threshold.
  HWY_NOINLINE void append_lowest(const float* values, std::size_t column, std::size_t columns) {
    const std::size_t end = std::min(column + kLanes, columns);
    if (column < end) best.append_lowest(values, end - column, column);
  }
};

/// A tile of products, taken in vector by vector. For each row the columns come in order, whatever
/// the shape of the tiles and whatever other rows there are. Its `Take` is what becomes of logits:
///
///     take.begin_block(rows)         before the first columns of a block of kBlock
///     take(logits, scratch, column)  the next vector of the present row; scratch has kLanes floats
///     take.next_row()
///     take.prefetch_next_row()       where there is one
template <class Take>
class WaitingTile {
 public:
  WaitingTile() = default;
  /// The products of `rows` rows, `width` columns from `column` on. Columns that the layer lacks
  /// are -infinity.
  WaitingTile(const Layer& layer, const Take& take, std::size_t rows, float* products,
              std::size_t column, std::size_t width)
      : take_(take),
        layer_(&layer),
        rows_(rows),
        products_(products),
        first_(column),
        column_(column),
        end_(column + width) {
    const std::size_t columns = layer.b->n();
    if (layer.bias && end_ + width <= columns)
      for (std::size_t c = 0; c < width; c += kCacheLine) hwy::Prefetch(layer.bias + end_ + c);
    const std::size_t missing = end_ - std::min(end_, columns);
    for (std::size_t r = 1; missing > 0 && r <= rows; ++r)
      std::fill_n(products + r * width - missing, missing, kLowest);
    if (column % kBlock == 0) take_.begin_block(rows);
  }

  std::size_t parts() const { return rows_ * (end_ - first_) / kLanes; }

  /// Takes in a vector.
  HWY_INLINE void operator()() {
    Vector logits = load(products_);
    if (layer_->bias) logits = hn::Add(logits, load(layer_->bias_at(column_)));
    take_(logits, products_, column_);
    products_ += kLanes;
    column_ += kLanes;
    if (column_ < end_) return;
    column_ = first_;
    take_.next_row();
    // The stream of the matrix drives a row out of the first-level cache before its turn.
    if (--rows_ <= 1) return;
    take_.prefetch_next_row();
    const std::size_t width = end_ - first_;
    for (std::size_t c = 0; c < width; c += kCacheLine) hwy::Prefetch(products_ + width + c);
  }

 private:
  Take take_;
  const Layer* layer_ = nullptr;
  std::size_t rows_ = 0;  // not yet taken in
  float* products_ = nullptr;
  std::size_t first_ = 0, column_ = 0, end_ = 0;
};

/// One tile is multiplied while the one before it waits.
template <class Take>
class TilePipeline {
 public:
  /// Multiplies `count` rows of a, which are prepared for the layer's matrix, from `row` on by some
  /// panels of it, for `take`.
  void multiply_rows(const RowsIn& a, std::size_t row, std::size_t count, const Layer& layer,
                     std::size_t panel, std::size_t panels, const Take& take) {
    float* tile = tiles_[turn_];
    turn_ = 1 - turn_;
    Block block;
    for (std::size_t r = 0; r < count; ++r) {
      block.a[r] = row_of(a, row + r, a.columns);
      block.c[r] = tile + r * panels * kPanel;
    }
    with_arithmetic(*layer.b, [&](auto type) {
      const typename decltype(type)::type arithmetic(*layer.b, panel);
      with_tile_rows(count, [&](auto n) {
        constexpr std::size_t kRows = decltype(n)::value;
        constexpr std::size_t kPanels = panels_together(kRows);
        if constexpr (kPanels > 1)
          if (panels == kPanels) return multiply_tile<kRows, kPanels>(block, arithmetic);
        multiply_tile<kRows, 1>(block, arithmetic);
      });
    });
    waiting_ = WaitingTile<Take>(layer, take, count, tile, panel * kPanel, panels * kPanel);
  }

  /// Takes in the last tile.
  void finish() {
    for (std::size_t part = waiting_.parts(); part > 0; --part) waiting_();
  }

 private:
  // A function for each shape: with all of them in one, sums would leave their registers.
  template <std::size_t kRows, std::size_t kPanels, class Arithmetic>
  HWY_NOINLINE void multiply_tile(const Block& block, const Arithmetic& panels) {
    multiply<kRows, kPanels>(block, panels, 0, kPanels * kPanel, waiting_);
  }

  HWY_ALIGN float tiles_[2][kTileRows * kPanel];
  std::size_t turn_ = 0;
  WaitingTile<Take> waiting_;
};

/// Calls f(first panel, number of panels) for those of the panels from `begin` to `end` that `rows`
/// rows are to be multiplied by together.
template <class F>
void for_each_panels(std::size_t rows, std::size_t begin, std::size_t end, const F& f) {
  const std::size_t together = rows <= kTileRows ? panels_together(rows) : 1;
  for (std::size_t p = begin; p < end;) {
    const std::size_t panels = p + together <= end ? together : 1;
    f(p, panels);
    p += panels;
  }
}

/// Calls f(first row, number of rows) for shares of `rows` rows of at most `most`. They are even:
/// of 7 rows, at most 6, there are 3 and 4.
template <class F>
void for_each_share(std::size_t rows, std::size_t most, const F& f) {
  const std::size_t shares = (rows + most - 1) / most;
  for (std::size_t i = 0; i < shares; ++i) {
    const std::size_t begin = rows * i / shares;
    f(begin, rows * (i + 1) / shares - begin);
  }
}

}  // namespace fuselage::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FUSELAGE_CPU_KERNELS_OUTPUT_INL_H_
