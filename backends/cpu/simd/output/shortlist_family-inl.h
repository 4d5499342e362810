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
#include <limits>
#include <span>
#include <vector>

#include "backends/cpu/simd/gemm/dots-inl.h"
#include "backends/cpu/simd/output/output_family-inl.h"
#include "backends/cpu/simd/table.h"
#include "hwy/cache_control.h"

HWY_BEFORE_NAMESPACE();
namespace fuselage::cpu::HWY_NAMESPACE {

// Logits ranked and added up together.
inline constexpr std::size_t kChunk = 128;
static_assert(kChunk % kSumLanes == 0);

// Lists share many columns, so that all of them take turns at ranges of the matrix, whose requested
// columns are read from memory once. The longest list has about this many columns in a range.
inline constexpr std::int64_t kColumnsOfRange = 32;

// Hardware prefetching works only within a column, and late: the distance in columns of a list, and
// the cache lines of each.
inline constexpr std::size_t kColumnsAhead = 16, kLinesAhead = 9;

// The requested columns of a layer.
struct Columns {
  const MatrixColumns& b;
  std::span<const std::int32_t> numbers;

  const std::byte* at(std::size_t i) const {
    return b.data + static_cast<std::size_t>(numbers[i]) * b.stride;
  }

  HWY_INLINE void prefetch(std::size_t i) const {
    const std::size_t end = std::min(b.stride, kLinesAhead * kCacheLine);
    for (std::size_t line = 0; line < end; line += kCacheLine) hwy::Prefetch(at(i) + line);
  }
};

// --- Products ---

// The products of up to kDotRows rows of a with columns begin … end - 1 of a list; those of column
// i and row r are at out + r * stride + i, and up to kWideDotColumns - 1 elements behind a row of
// them are overwritten.
template <class Dot>
void multiply_columns(const RowsIn& a, std::size_t rows, const Columns& columns, std::size_t begin,
                      std::size_t end, float* out, std::size_t stride) {
  constexpr std::size_t kScaleBytes = Dot::kScaled ? sizeof(float) : 0;
  DotTile tile{.stride = stride};
  for (std::size_t r = 0; r < rows; ++r)
    tile.rows[r] = reinterpret_cast<const std::byte*>(row_of(a, r, a.columns)) + kScaleBytes;
  const std::size_t last = columns.numbers.size() - 1;
  for (std::size_t c = begin, step = 0; c < end; c += step) {
    step = is_wide<Dot>(rows) && end - c > kDotColumns ? kWideDotColumns : kDotColumns;
    for (std::size_t i = 0; i < step; ++i) {
      tile.columns[i] = columns.at(std::min(c + i, end - 1)) + kScaleBytes;
      columns.prefetch(std::min(c + i + kColumnsAhead, last));
    }
    tile.out = out + c;
    multiply_rows<Dot>(tile, rows, step, columns.b.k);
  }
}

// The products of rows with their lists' columns. They take no memory once constructed, unless a
// row has more than kListedProducts of them.
class ListProducts {
 public:
  ListProducts() : products_(kListedProducts + kListedRows * kPadding) {}

  /// Multiplies the prepared rows of lists.
  template <class Dot>
  void multiply(const RowsIn& a, std::span<const ListedRows> lists, const MatrixColumns& b) {
    place(lists);
    const std::int64_t range = range_of(lists);
    std::array<std::size_t, kListedRows> done{};
    for (std::int64_t end = range; !is_finished(lists, done); end += range) {
      RowsIn rows = a;
      for (std::size_t i = 0; i < lists.size(); rows = rows_from(rows, lists[i++].rows)) {
        const std::span<const std::int32_t> numbers = lists[i].columns;
        const std::size_t begin = done[i];
        // Columns that are not ascending are found in later ranges.
        while (done[i] < numbers.size() && numbers[done[i]] < end) ++done[i];
        for_each_share(lists[i].rows, kDotRows, [&](std::size_t first, std::size_t count) {
          multiply_columns<Dot>(rows_from(rows, first), count, {b, numbers}, begin, done[i],
                                row(i, first), stride(i));
        });
      }
    }
  }

  /// Multiplies rows by their packed lists, with biases.
  void multiply_packed(const RowsIn& a, std::span<const ListedRows> lists) {
    place(lists);
    RowsIn rows = a;
    for (std::size_t i = 0; i < lists.size(); rows = rows_from(rows, lists[i++].rows)) {
      const PackedMatrix* matrix = lists[i].packed.matrix;
      if (lists[i].columns.empty()) continue;
      gemm_panels(rows, lists[i].rows, *matrix, 0, matrix->panel_count(),
                  {.bias = lists[i].packed.bias}, {row(i, 0), stride(i)});
    }
  }

  /// Adds the biases of all columns.
  void add(const float* bias, std::span<const ListedRows> lists) {
    for (std::size_t i = 0; i < lists.size(); ++i)
      for (std::size_t r = 0; r < lists[i].rows; ++r) {
        float* to = row(i, r);
        for (const std::int32_t column : lists[i].columns)
          *to++ += bias[static_cast<std::size_t>(column)];
      }
  }

  /// The products of row r of list i; space for a multiple of kSumLanes.
  float* row(std::size_t i, std::size_t r) { return products_.data() + first_[i] + r * stride(i); }

 private:
  std::size_t stride(std::size_t i) const { return strides_[i]; }

  void place(std::span<const ListedRows> lists) {
    std::size_t size = 0;
    for (std::size_t i = 0; i < lists.size(); ++i) {
      strides_[i] = (lists[i].columns.size() + kPadding) / kSumLanes * kSumLanes;
      first_[i] = size;
      size += lists[i].rows * strides_[i];
    }
    if (products_.size() < size) products_.resize(size);
  }

  static std::int64_t range_of(std::span<const ListedRows> lists) {
    std::int64_t range = std::numeric_limits<std::int32_t>::max();
    for (const ListedRows& list : lists) {
      if (list.columns.empty()) continue;
      const std::int64_t columns_before_end = std::int64_t{list.columns.back()} + 1;
      range = std::min(range, kColumnsOfRange * columns_before_end / std::ssize(list.columns));
    }
    return std::max<std::int64_t>(range, 1);
  }

  static bool is_finished(std::span<const ListedRows> lists,
                          const std::array<std::size_t, kListedRows>& done) {
    for (std::size_t i = 0; i < lists.size(); ++i)
      if (done[i] < lists[i].columns.size()) return false;
    return true;
  }

  // Behind a row's products: what the last tile writes, and a vector's rest.
  static constexpr std::size_t kPadding = kWideDotColumns + kSumLanes;

  std::array<std::size_t, kListedRows> first_, strides_;  // of each list
  std::vector<float> products_;
};

/// The products of rows and their biases, unless these are null, valid until the thread's next
/// request.
inline ListProducts& products_of(const RowsIn& a, std::span<const ListedRows> lists,
                                 const MatrixColumns& b, const float* bias) {
  static thread_local ListProducts products;
  std::size_t rows = 0;
  for (const ListedRows& list : lists) rows += list.rows;
  check(rows <= kListedRows, "shortlists: too many rows at once");
  const bool packed = std::all_of(lists.begin(), lists.end(), [](const ListedRows& list) {
    return list.packed.matrix || list.columns.empty();
  });
  if (packed) {
    products.multiply_packed(a, lists);
    return products;
  }
  with_dot(b.dtype, [&](auto type) {
    using Dot = typename decltype(type)::type;
    products.multiply<Dot>(prepared_rows<Dot>(a, rows, b.k), lists, b);
  });
  if (bias) products.add(bias, lists);
  return products;
}

// --- The best of them ---

// Logits of a list from `first` on, at most kChunk of them; -infinity up to a multiple of
// kSumLanes.
HWY_INLINE Logits chunk_of(float* data, std::size_t first, std::size_t count, TopLanes& tops) {
  const std::size_t end = (count + kSumLanes - 1) / kSumLanes * kSumLanes;
  for (std::size_t c = 0; c < end; c += kLanes) {
    const Vector logits[] = {load(data + c)};
    tops.take(logits, c);
  }
  return {data, first, end, &tops, tops.largest()};
}

// A row's logits, a chunk at a time.
class ListedLogits {
 public:
  ListedLogits(float* products, std::span<const std::int32_t> columns)
      : data_(products), columns_(columns) {
    const std::size_t end = (columns.size() + kSumLanes - 1) / kSumLanes * kSumLanes;
    std::fill(data_ + columns.size(), data_ + end, kLowest);
  }

  void take(Wanted wanted, Row& row) const {
    for (std::size_t first = 0; first < columns_.size(); first += kChunk) {
      TopLanes tops;
      const Logits logits =
          chunk_of(data_ + first, first, std::min(kChunk, columns_.size() - first), tops);
      row.ranking.take(logits, wanted, columns_.size());
      if (wanted == Wanted::best_and_sum) add_exps(logits, row.sum);
    }
  }

 private:
  float* data_;
  std::span<const std::int32_t> columns_;
};

// The k best of a row.
inline void best_of_row(const ListedLogits& logits, std::span<const std::int32_t> columns,
                        bool log_softmax, std::size_t k, float* values, std::int32_t* ids) {
  Row row{.sum = {}, .ranking = {Best(k, values, ids)}};
  logits.take(log_softmax ? Wanted::best_and_sum : Wanted::best, row);
  if (row.ranking.best.threshold() == kLowest) logits.take(Wanted::lowest_columns, row);
  if (log_softmax) finish_scores(row.sum, columns.size(), k, values, ids, nullptr);
  for (std::size_t i = 0; i < k; ++i)
    if (ids[i] >= 0) ids[i] = columns[static_cast<std::size_t>(ids[i])];
}

inline void shortlist_k_best(const RowsIn& a, std::span<const ListedRows> lists,
                             const MatrixColumns& b, const float* bias, bool log_softmax,
                             std::size_t k, float* values, std::int32_t* ids) {
  if (k == 0) return;
  ListProducts& products = products_of(a, lists, b, bias);
  for (std::size_t i = 0; i < lists.size(); ++i)
    for (std::size_t r = 0; r < lists[i].rows; ++r, values += k, ids += k) {
      const ListedLogits logits(products.row(i, r), lists[i].columns);
      best_of_row(logits, lists[i].columns, log_softmax, k, values, ids);
    }
}

inline void shortlist_products(const RowsIn& a, std::span<const ListedRows> lists,
                               const MatrixColumns& b, const float* bias, float* out) {
  ListProducts& products = products_of(a, lists, b, bias);
  for (std::size_t i = 0; i < lists.size(); ++i)
    for (std::size_t r = 0; r < lists[i].rows; ++r)
      out = std::copy_n(products.row(i, r), lists[i].columns.size(), out);
}

// Sums up chunk by chunk, as best_of_row does.
inline void shortlist_log_softmax(std::span<const float> logits, float* out) {
  ExpSum sums;
  HWY_ALIGN float chunk[kChunk];
  for (std::size_t first = 0; first < logits.size(); first += kChunk) {
    const std::size_t count = std::min(kChunk, logits.size() - first);
    std::fill(std::copy_n(logits.data() + first, count, chunk), chunk + kChunk, kLowest);
    TopLanes tops;
    add_exps(chunk_of(chunk, first, count, tops), sums);
  }
  const float sum = value_of(sums), center = center_of(sums.top);
  const float log_sum = sum == 0.0f ? 0.0f : log_of(sum);
  for (const float logit : logits) *out++ = (logit - center) - log_sum;
}

inline void set_shortlist(KernelTable& table) {
  table.shortlist_k_best = shortlist_k_best;
  table.shortlist_products = shortlist_products;
  table.shortlist_log_softmax = shortlist_log_softmax;
}

}  // namespace fuselage::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FUSELAGE_CPU_KERNELS_SHORTLIST_FAMILY_INL_H_
