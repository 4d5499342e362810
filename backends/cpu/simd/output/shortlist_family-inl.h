// The output layer of a model for a few columns of its matrix: products and bias, and optionally
// normalizer and k best. Compiled once per target, hence the unusual guard.
#if defined(FUSELAGE_CPU_KERNELS_SHORTLIST_FAMILY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FUSELAGE_CPU_KERNELS_SHORTLIST_FAMILY_INL_H_
#undef FUSELAGE_CPU_KERNELS_SHORTLIST_FAMILY_INL_H_
#else
#define FUSELAGE_CPU_KERNELS_SHORTLIST_FAMILY_INL_H_
#endif

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "backends/cpu/simd/gemm/dots-inl.h"
#include "backends/cpu/simd/output/output_family-inl.h"
#include "backends/cpu/simd/table.h"

HWY_BEFORE_NAMESPACE();
namespace fuselage::cpu::HWY_NAMESPACE {

// Columns per chunk; a chunk stays in the cache for all rows.
inline constexpr std::size_t kChunk = 128;
static_assert(kChunk % kSumLanes == 0);

// Rows multiplied by a chunk together.
inline constexpr std::size_t kRowsTogether = 32;

// --- Logits ---

// The requested columns of a layer.
struct Columns {
  const MatrixColumns& b;
  const float* bias;
  std::span<const std::int32_t> numbers;

  const std::byte* at(std::size_t i) const {
    return b.data + static_cast<std::size_t>(numbers[i]) * b.stride;
  }
};

// A chunk of the list of columns, and the bias of its products.
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

inline float scale_at(const void* vector) {
  float scale = 0;
  std::memcpy(&scale, vector, sizeof scale);
  return scale;
}

// The products of up to kDotRows rows of a with a chunk's columns; row r of products begins at out
// + r * kChunk.
template <class Dot>
void multiply(const RowsIn& a, std::size_t rows, const Columns& columns, const Chunk& chunk,
              float* out) {
  constexpr std::size_t kScaleBytes = Dot::kScaled ? sizeof(float) : 0;
  DotTile tile{.stride = kChunk};
  const auto row = [&](std::size_t r) {
    return reinterpret_cast<const std::byte*>(row_of(a, r, a.columns));
  };
  for (std::size_t r = 0; r < rows; ++r) tile.rows[r] = row(r) + kScaleBytes;
  const std::size_t last = columns.numbers.size() - 1;
  for (std::size_t c = 0; c < chunk.count; c += kDotColumns) {
    for (std::size_t i = 0; i < kDotColumns; ++i) {
      tile.columns[i] = columns.at(std::min(chunk.first + c + i, last)) + kScaleBytes;
      // Hardware prefetching works only within a column.
      hwy::Prefetch(columns.at(std::min(chunk.first + c + i + kDotColumns, last)));
    }
    tile.out = out + c;
    multiply_rows<Dot>(tile, rows, columns.b.k);
  }
  if (!Dot::kScaled) return;
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < chunk.count; ++c)
      out[r * kChunk + c] =
          out[r * kChunk + c] * scale_at(columns.at(chunk.first + c)) * scale_at(row(r));
}

// --- The best of them ---

// Computes the logits of some rows, chunk by chunk.
template <class Dot>
void take_rows(const RowsIn& a, const Columns& columns, Wanted wanted, std::span<Row> rows) {
  HWY_ALIGN float products[kDotRows * kChunk];
  TopLanes tops;
  for (std::size_t first = 0; first < columns.numbers.size(); first += kChunk) {
    const Chunk chunk(columns, first);
    for_each_share(rows.size(), kDotRows, [&](std::size_t begin, std::size_t count) {
      multiply<Dot>(rows_from(a, begin), count, columns, chunk, products);
      for (std::size_t r = 0; r < count; ++r) {
        const Logits logits = chunk.logits(products + r * kChunk, tops);
        rows[begin + r].ranking.take(logits, wanted, columns.numbers.size());
        if (wanted == Wanted::best_and_sum) add_exps(logits, rows[begin + r].sum);
      }
    });
  }
}

// Converts indexes into the list to column numbers.
inline void find_columns(std::span<const std::int32_t> numbers, std::span<std::int32_t> ids) {
  for (std::int32_t& id : ids)
    if (id >= 0) id = numbers[static_cast<std::size_t>(id)];
}

template <class Dot>
void best_of_rows(const RowsIn& a, const Columns& columns, bool log_softmax, std::size_t k,
                  std::span<Row> rows, float* values, std::int32_t* ids) {
  for (std::size_t r = 0; r < rows.size(); ++r)
    rows[r] = {.sum = {}, .ranking = {Best(k, values + r * k, ids + r * k)}};
  take_rows<Dot>(a, columns, log_softmax ? Wanted::best_and_sum : Wanted::best, rows);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    // As in linear_k_best, columns that are rarely needed are recomputed.
    if (rows[r].ranking.best.threshold() == kLowest)
      take_rows<Dot>(rows_from(a, r), columns, Wanted::lowest_columns, rows.subspan(r, 1));
    if (log_softmax)
      finish_scores(rows[r].sum, columns.numbers.size(), k, values + r * k, ids + r * k, nullptr);
    find_columns(columns.numbers, {ids + r * k, k});
  }
}

inline void shortlist_k_best(const RowsIn& a, std::size_t rows, const MatrixColumns& b,
                             const float* bias, std::span<const std::int32_t> columns,
                             bool log_softmax, std::size_t k, float* values, std::int32_t* ids) {
  if (k == 0) return;
  const Columns some{b, bias, columns};
  std::array<Row, kRowsTogether> state;
  with_dot(b.dtype, [&](auto type) {
    using Dot = typename decltype(type)::type;
    for_each_share(rows, kRowsTogether, [&](std::size_t begin, std::size_t count) {
      best_of_rows<Dot>(prepared_rows<Dot>(rows_from(a, begin), count, b.k), some, log_softmax, k,
                        {state.data(), count}, values + begin * k, ids + begin * k);
    });
  });
}

template <class Dot>
void products_of_rows(const RowsIn& a, std::size_t rows, const Columns& columns, float* out) {
  HWY_ALIGN float products[kDotRows * kChunk];
  for (std::size_t first = 0; first < columns.numbers.size(); first += kChunk) {
    const Chunk chunk(columns, first);
    for_each_share(rows, kDotRows, [&](std::size_t begin, std::size_t count) {
      multiply<Dot>(rows_from(a, begin), count, columns, chunk, products);
      for (std::size_t r = 0; r < count; ++r)
        for (std::size_t c = 0; c < chunk.count; ++c)
          out[(begin + r) * columns.numbers.size() + first + c] =
              products[r * kChunk + c] + chunk.bias[c];
    });
  }
}

inline void shortlist_products(const RowsIn& a, std::size_t rows, const MatrixColumns& b,
                               const float* bias, std::span<const std::int32_t> columns,
                               float* out) {
  const Columns some{b, bias, columns};
  with_dot(b.dtype, [&](auto type) {
    using Dot = typename decltype(type)::type;
    for_each_share(rows, kRowsTogether, [&](std::size_t begin, std::size_t count) {
      products_of_rows<Dot>(prepared_rows<Dot>(rows_from(a, begin), count, b.k), count, some,
                            out + begin * columns.size());
    });
  });
}

inline void set_shortlist(KernelTable& table) {
  table.shortlist_k_best = shortlist_k_best;
  table.shortlist_products = shortlist_products;
}

}  // namespace fuselage::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FUSELAGE_CPU_KERNELS_SHORTLIST_FAMILY_INL_H_
