// The output layer of a model for a few columns of its matrix: products, bias, normalizer and k
// best.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "backends/cpu/kernels/families.h"
#include "backends/cpu/kernels/table.h"
#include "backends/cpu/kernels/targets.h"
#include "base/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/shortlist.cpp"
#include "hwy/foreach_target.h"
// Compiled once a target, so after that.
#include "backends/cpu/kernels/dots-inl.h"
#include "backends/cpu/kernels/output_family-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fuselage::cpu::HWY_NAMESPACE {
namespace {

// Columns whose logits are there at a time; they stay in the cache for all rows.
constexpr std::size_t kChunk = 128;
static_assert(kChunk % kSumLanes == 0);

// Rows that go over a chunk together.
constexpr std::size_t kRowsTogether = 32;

// --- Logits ---

// A layer's columns that are asked for.
struct Columns {
  const MatrixColumns& b;
  const float* bias;
  std::span<const std::int32_t> numbers;

  const std::byte* at(std::size_t i) const {
    return b.data + static_cast<std::size_t>(numbers[i]) * b.stride;
  }
};

// Some columns of the list, and what is added to their products.
struct Chunk {
  std::size_t first = 0, count = 0;
  HWY_ALIGN std::array<float, kChunk> bias{};

  Chunk(const Columns& columns, std::size_t begin)
      : first(begin), count(std::min(kChunk, columns.numbers.size() - begin)) {
    for (std::size_t c = 0; columns.bias && c < count; ++c)
      bias[c] = columns.bias[columns.numbers[first + c]];
  }

  // Completes the products of a row.
  HWY_INLINE Logits logits(float* products, TopLanes& tops) const {
    tops = TopLanes();
    const std::size_t end = (count + kSumLanes - 1) / kSumLanes * kSumLanes;
    std::fill(products + count, products + end, kLowest);
    for (std::size_t c = 0; c < end; c += kLanes) {
      const Vector logits[] = {hn::Add(load(products + c), load(bias.data() + c))};
      store(logits[0], products + c);
      tops.take(logits, c);
    }
    return {products, first, end, &tops, tops.largest()};
  }
};

// What comes before the elements of a row or column: a quantized vector's scale.
template <class Element>
constexpr std::size_t kScaleBytes = std::is_same_v<Element, float> ? 0 : sizeof(float);

template <class Element>
const Element* elements_of(const void* vector) {
  return reinterpret_cast<const Element*>(static_cast<const std::byte*>(vector) +
                                          kScaleBytes<Element>);
}

float scale_at(const void* vector) {
  float scale = 0;
  std::memcpy(&scale, vector, sizeof scale);
  return scale;
}

// The products of up to kDotRows rows of a with a chunk's columns; those of row r begin at
// out + r * kChunk.
template <class Dot>
void multiply(const RowsIn& a, std::size_t rows, const Columns& columns, const Chunk& chunk,
              float* out) {
  using Element = typename Dot::Element;
  DotTile<Element> tile{.stride = kChunk};
  for (std::size_t r = 0; r < rows; ++r)
    tile.rows[r] = elements_of<Element>(row_of(a, r, a.columns));
  const std::size_t last = columns.numbers.size() - 1;
  for (std::size_t c = 0; c < chunk.count; c += kDotColumns) {
    for (std::size_t i = 0; i < kDotColumns; ++i) {
      tile.columns[i] = elements_of<Element>(columns.at(std::min(chunk.first + c + i, last)));
      // Only within a column can the processor foresee what comes next.
      hwy::Prefetch(columns.at(std::min(chunk.first + c + i + kDotColumns, last)));
    }
    tile.out = out + c;
    multiply_rows<Dot>(tile, rows, columns.b.k);
  }
  if (kScaleBytes<Element> == 0) return;
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < chunk.count; ++c)
      out[r * kChunk + c] = out[r * kChunk + c] * scale_at(columns.at(chunk.first + c)) *
                            scale_at(row_of(a, r, a.columns));
}

void products_of(const RowsIn& a, std::size_t rows, const Columns& columns, const Chunk& chunk,
                 float* out) {
  if (columns.b.dtype == DType::qint8)
    multiply<IntegerDot<std::int8_t>>(a, rows, columns, chunk, out);
  else if (columns.b.dtype == DType::qint16)
    multiply<IntegerDot<std::int16_t>>(a, rows, columns, chunk, out);
  else
    multiply<FloatDot>(a, rows, columns, chunk, out);
}

// --- The best of them ---

// Goes over the logits of some rows, chunk by chunk.
void take_rows(const RowsIn& a, const Columns& columns, Wanted wanted, std::span<Row> rows) {
  HWY_ALIGN float products[kDotRows * kChunk];
  TopLanes tops;
  WaitingSums sums;
  for (std::size_t first = 0; first < columns.numbers.size(); first += kChunk) {
    const Chunk chunk(columns, first);
    for_each_share(rows.size(), kDotRows, [&](std::size_t begin, std::size_t count) {
      products_of(rows_from(a, begin), count, columns, chunk, products);
      for (std::size_t r = 0; r < count; ++r) {
        const Logits logits = chunk.logits(products + r * kChunk, tops);
        rows[begin + r].ranking.take(logits, wanted, columns.numbers.size());
        if (wanted == Wanted::best_and_sum) sums.push(logits, rows[begin + r].sum);
      }
      sums.finish();
    });
  }
}

// From places in the list to columns.
void find_columns(std::span<const std::int32_t> numbers, std::span<std::int32_t> ids) {
  for (std::int32_t& id : ids)
    if (id >= 0) id = numbers[static_cast<std::size_t>(id)];
}

void best_of_rows(const RowsIn& a, const Columns& columns, bool log_softmax, std::size_t k,
                  std::span<Row> rows, float* values, std::int32_t* ids) {
  for (std::size_t r = 0; r < rows.size(); ++r)
    rows[r] = {.sum = {}, .ranking = {Best(k, values + r * k, ids + r * k)}};
  take_rows(a, columns, log_softmax ? Wanted::best_and_sum : Wanted::best, rows);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    // As in linear_k_best, columns that are rarely wanted are computed once more.
    if (rows[r].ranking.best.threshold() == kLowest)
      take_rows(rows_from(a, r), columns, Wanted::lowest_columns, rows.subspan(r, 1));
    if (log_softmax) finish_scores(rows[r], columns.numbers.size(), k, values + r * k, ids + r * k);
    find_columns(columns.numbers, {ids + r * k, k});
  }
}

void shortlist_k_best(const RowsIn& a, std::size_t rows, const MatrixColumns& b, const float* bias,
                      std::span<const std::int32_t> columns, bool log_softmax, std::size_t k,
                      float* values, std::int32_t* ids) {
  if (k == 0) return;
  const Columns some{b, bias, columns};
  std::array<Row, kRowsTogether> state;
  for_each_share(rows, kRowsTogether, [&](std::size_t begin, std::size_t count) {
    best_of_rows(rows_from(a, begin), some, log_softmax, k, {state.data(), count},
                 values + begin * k, ids + begin * k);
  });
}

}  // namespace

std::int64_t fill_shortlist(KernelTable& table) {
  table.shortlist_k_best = shortlist_k_best;
  return HWY_TARGET;
}

}  // namespace fuselage::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fuselage::cpu {
namespace {
HWY_EXPORT(fill_shortlist);
}
std::int64_t fill_shortlist(KernelTable& table) {
  return HWY_DYNAMIC_DISPATCH(fill_shortlist)(table);
}
}  // namespace fuselage::cpu
#endif
