// The output layer of a model in one kernel: product, bias, normalizer and k best.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "backends/cpu/kernels/best.h"
#include "backends/cpu/kernels/families.h"
#include "backends/cpu/kernels/table.h"
#include "backends/cpu/kernels/targets.h"
#include "base/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/output.cpp"
#include "hwy/foreach_target.h"
// Compiled once a target, so after that.
#include "backends/cpu/kernels/gemm-inl.h"
#include "backends/cpu/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fuselage::cpu::HWY_NAMESPACE {
namespace {

constexpr float kLowest = Best::kLowest;

// Sums go block by block, so that a vocabulary's worth of terms keeps its precision.
constexpr std::size_t kBlock = 1024;

// Rows that go over a panel while it is in cache.
constexpr std::size_t kMaxRows = 96;

// What is known of a row after some of its columns.
struct alignas(64) Row {
  std::array<float, kLanes> sum{};  // of this block's columns
  float threshold = kLowest;        // of `best`
  float center = 0;     // `top`, or 0 while that is -infinity: the sums are of exp(logit - center)
  float top = kLowest;  // the largest logit
  Best best;
  std::array<float, kLanes> total{};
};

// An output layer, and the bias of its last columns up to a whole vector.
struct Layer {
  Layer(const PackedMatrix& matrix, const float* row) : b(matrix), bias(row) {
    const std::size_t rest = b.n() % kLanes;
    if (bias) std::copy_n(bias + b.n() - rest, rest, tail.begin());
  }

  const float* bias_at(std::size_t column) const {
    return column + kLanes <= b.n() ? bias + column : tail.data();
  }

  const PackedMatrix& b;
  const float* bias;
  std::array<float, kLanes> tail{};
};

// What is wanted of the logits.
enum class Wanted : std::uint8_t {
  best,           // the k best
  best_and_sum,   // and the sum of their exponentials
  lowest_columns  // columns of -infinity or NaN for what is missing among the best
};

void scale(std::array<float, kLanes>& sums, float factor) {
  store(hn::Mul(load(sums.data()), broadcast(factor)), sums.data());
}

// Takes those of a vector of columns that exceed the threshold among the best.
HWY_NOINLINE void take_larger(const float* logits, std::size_t column, Row& row) {
  std::uint64_t larger = 0;
  hn::StoreMaskBits(Tag(), hn::Gt(load(logits), broadcast(row.threshold)),
                    reinterpret_cast<std::uint8_t*>(&larger));
  for (; larger != 0; larger &= larger - 1) {
    const auto i = static_cast<std::size_t>(std::countr_zero(larger));
    if (logits[i] > row.best.threshold()) row.best.insert(logits[i], column + i);
  }
  row.threshold = row.best.threshold();
  if (row.best.top() == row.top) return;
  // exp(-infinity) at first, when the sums are 0 or NaN.
  const float factor = std::exp(row.top - row.best.top());
  scale(row.sum, factor);
  scale(row.total, factor);
  row.top = row.center = row.best.top();
}

// A tile of products, taken in vector by vector while the next one is multiplied. For each row the
// columns come in order, whatever the shape of the tiles and whatever other rows there are.
class WaitingTile {
 public:
  WaitingTile() = default;
  // The products of `rows`, `width` columns from `column` on. Columns that b lacks are -infinity.
  WaitingTile(const Layer& layer, Wanted wanted, std::span<Row> rows, float* products,
              std::size_t column, std::size_t width)
      : layer_(&layer),
        wanted_(wanted),
        parts_(rows.size() * width / kLanes),
        row_(rows.data()),
        last_(rows.data() + rows.size()),
        products_(products),
        first_(column),
        column_(column),
        end_(column + width) {
    if (layer.bias && end_ + width <= layer.b.n())
      for (std::size_t c = 0; c < width; c += kCacheLine) hwy::Prefetch(layer.bias + end_ + c);
    const std::size_t missing = end_ - std::min(end_, layer.b.n());
    for (std::size_t r = 1; missing > 0 && r <= rows.size(); ++r)
      std::fill_n(products + r * width - missing, missing, kLowest);
    if (wanted == Wanted::best_and_sum && column % kBlock == 0)
      for (Row& row : rows) end_block(row);
  }

  std::size_t parts() const { return parts_; }

  // Takes in a vector.
  HWY_INLINE void operator()() {
    Vector logits = load(products_);
    if (layer_->bias) logits = hn::Add(logits, load(layer_->bias_at(column_)));
    if (wanted_ == Wanted::lowest_columns) {
      store(logits, products_);
      append_lowest();
    } else {
      const auto larger = hn::Gt(logits, broadcast(row_->threshold));
      if (HWY_UNLIKELY(!hn::AllFalse(Tag(), larger))) {
        store(logits, products_);
        take_larger(products_, column_, *row_);
      }
      if (wanted_ == Wanted::best_and_sum) {
        const Vector term = exp_of_nonpositive(hn::Sub(logits, broadcast(row_->center)));
        store(hn::Add(load(row_->sum.data()), term), row_->sum.data());
      }
    }
    products_ += kLanes;
    column_ += kLanes;
    if (column_ < end_) return;
    column_ = first_;
    ++row_;
    if (last_ - row_ > 1) prefetch_row(row_ + 1, products_ + (end_ - first_));
  }

 private:
  static void end_block(Row& row) {
    store(hn::Add(load(row.total.data()), load(row.sum.data())), row.total.data());
    row.sum.fill(0);
  }

  // The stream of the matrix drives a row's state out of the first-level cache before its turn.
  HWY_INLINE void prefetch_row(const Row* row, const float* products) const {
    hwy::Prefetch(row->sum.data());
    hwy::Prefetch(&row->threshold);
    for (std::size_t c = 0; c < end_ - first_; c += kCacheLine) hwy::Prefetch(products + c);
  }

  HWY_NOINLINE void append_lowest() {
    const std::size_t end = std::min(column_ + kLanes, layer_->b.n());
    if (column_ < end) row_->best.append_lowest(products_, end - column_, column_);
  }

  const Layer* layer_ = nullptr;
  Wanted wanted_ = Wanted::best;
  std::size_t parts_ = 0;
  Row* row_ = nullptr;
  const Row* last_ = nullptr;
  float* products_ = nullptr;
  std::size_t first_ = 0, column_ = 0, end_ = 0;
};

// Multiplies kRows rows of a by `panels` panels, 1 or kPanels, from panel p on.
template <std::size_t kRows, std::size_t kPanels>
void multiply_tile(const Block& block, const PackedMatrix& b, std::size_t p, std::size_t panels,
                   WaitingTile& waiting) {
  if (kPanels > 1 && panels == kPanels)
    multiply<kRows, kPanels>(block, b.panel_data(p), b.k(), 0, kPanels * kPanel, waiting);
  else
    multiply<kRows, 1>(block, b.panel_data(p), b.k(), 0, kPanel, waiting);
}

// Goes over the logits of up to kMaxRows rows.
void take_rows(const RowsIn& a, const Layer& layer, Wanted wanted, std::span<Row> rows) {
  const PackedMatrix& b = layer.b;
  const std::size_t blocks = (rows.size() + kTileRows - 1) / kTileRows;
  const std::size_t together = blocks == 1 ? panels_together(rows.size()) : 1;
  // One is multiplied while the other waits.
  HWY_ALIGN float tiles[2][kTileRows * kPanel];
  std::size_t turn = 0;
  WaitingTile waiting;
  for (std::size_t p = 0; p < b.panel_count();) {
    const std::size_t panels = p + together <= b.panel_count() ? together : 1;
    for (std::size_t i = 0; i < blocks; ++i) {
      // Even shares: 7 rows are 3 and 4.
      const std::size_t begin = rows.size() * i / blocks;
      const std::size_t count = rows.size() * (i + 1) / blocks - begin;
      float* tile = tiles[turn];
      turn = 1 - turn;
      Block block;
      for (std::size_t r = 0; r < count; ++r) {
        block.a[r] = row_of(a, begin + r, b.k());
        block.c[r] = tile + r * panels * kPanel;
      }
      with_tile_rows(count, [&](auto n) {
        constexpr std::size_t kRows = decltype(n)::value;
        multiply_tile<kRows, panels_together(kRows)>(block, b, p, panels, waiting);
      });
      waiting =
          WaitingTile(layer, wanted, rows.subspan(begin, count), tile, p * kPanel, panels * kPanel);
    }
    p += panels;
  }
  for (std::size_t part = waiting.parts(); part > 0; --part) waiting();
}

// From logits to logarithms of probabilities, as log_softmax has them: first the largest logit and
// then the logarithm is subtracted, since their sum would round it away beside a large logit.
// A row that has no probabilities, all NaN or -infinity to k_best, gets its first columns.
void finish_scores(const Row& row, const Layer& layer, std::size_t k, float* values,
                   std::int32_t* ids) {
  const float sum = sum_lanes(hn::Add(load(row.total.data()), load(row.sum.data())));
  const bool none = row.top == kLowest || std::isnan(sum);
  const float log_sum = std::log(sum);
  for (std::size_t i = 0; i < k; ++i) {
    values[i] = none ? kLowest : (values[i] - row.top) - log_sum;
    if (none) ids[i] = i < layer.b.n() ? static_cast<std::int32_t>(i) : -1;
  }
}

void output_rows(const RowsIn& a, const Layer& layer, bool log_softmax, std::size_t k,
                 std::span<Row> rows, float* values, std::int32_t* ids) {
  for (std::size_t r = 0; r < rows.size(); ++r)
    rows[r] = {.best = Best(k, values + r * k, ids + r * k)};
  take_rows(a, layer, log_softmax ? Wanted::best_and_sum : Wanted::best, rows);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    // Columns of -infinity or NaN never exceed a threshold. They are rarely wanted, so that
    // multiplying once more costs less than to keep them.
    if (rows[r].threshold == kLowest)
      take_rows(rows_from(a, r), layer, Wanted::lowest_columns, rows.subspan(r, 1));
    if (log_softmax) finish_scores(rows[r], layer, k, values + r * k, ids + r * k);
  }
}

void linear_k_best(const RowsIn& a, std::size_t rows, const PackedMatrix& b, const float* bias,
                   bool log_softmax, std::size_t k, float* values, std::int32_t* ids) {
  check(b.panel() == kPanel, "linear_k_best: the matrix was packed for another instruction set");
  check(a.columns == b.k(), "linear_k_best: a.columns is not b.k()");
  if (k == 0) return;
  const Layer layer(b, bias);
  std::array<Row, kMaxRows> state;
  const std::size_t groups = (rows + kMaxRows - 1) / kMaxRows;
  for (std::size_t i = 0; i < groups; ++i) {
    const std::size_t begin = rows * i / groups;
    const std::size_t count = rows * (i + 1) / groups - begin;
    output_rows(rows_from(a, begin), layer, log_softmax, k, {state.data(), count},
                values + begin * k, ids + begin * k);
  }
}

}  // namespace

std::int64_t fill_output(KernelTable& table) {
  table.linear_k_best = linear_k_best;
  return HWY_TARGET;
}

}  // namespace fuselage::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fuselage::cpu {
namespace {
HWY_EXPORT(fill_output);
}
std::int64_t fill_output(KernelTable& table) { return HWY_DYNAMIC_DISPATCH(fill_output)(table); }
}  // namespace fuselage::cpu
#endif
