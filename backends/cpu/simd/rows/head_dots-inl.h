// Dot products of heads: the scores of attention. Compiled once per target, hence the unusual
// guard.
#if defined(FUSELAGE_CPU_KERNELS_HEAD_DOTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FUSELAGE_CPU_KERNELS_HEAD_DOTS_INL_H_
#undef FUSELAGE_CPU_KERNELS_HEAD_DOTS_INL_H_
#else
#define FUSELAGE_CPU_KERNELS_HEAD_DOTS_INL_H_
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "backends/cpu/simd/rows/lanes-inl.h"
#include "backends/cpu/simd/rows/paired_rows-inl.h"
#include "backends/cpu/simd/vector-inl.h"
#include "fuselage/backends/cpu/simd/rows.h"
#include "hwy/aligned_allocator.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fuselage::cpu::HWY_NAMESPACE {

/// Heads of `width` columns, and the factor of their dot products.
struct Heads {
  std::size_t count;
  std::size_t width;
  float scale;

  std::size_t cols() const { return count * width; }
};

/// Heads whose products are stored together.
inline constexpr std::size_t kHeadsTogether = 4;

// --- Pairs one after another ---

/// The sums of the products of kParts * kSumLanes columns, or of n if kParts is 0.
template <std::size_t kParts>
HWY_INLINE LaneSum dot(const float* a, const float* b, std::size_t n) {
  LaneSum sum;
  if constexpr (kParts == 0) {
    sum.add(n, [&](std::size_t i, auto lanes, Vector part)
                   HWY_ATTR { return mul_add(read(a + i, lanes), read(b + i, lanes), part); });
  } else {
    HWY_UNROLL(4)
    for (std::size_t v = 0; v < LaneSum::kVectors; ++v) {
      const std::size_t at = v * kLanes;
      Vector part = hn::Mul(load(a + at), load(b + at));
      HWY_UNROLL(8)
      for (std::size_t i = 1; i < kParts; ++i)
        part = mul_add(load(a + at + i * kSumLanes), load(b + at + i * kSumLanes), part);
      sum.parts[v] = part;
    }
  }
  return sum;
}

/// The dot products of slices of the rows of q and k, row after row, kLanes of them at a time. The
/// slices have kParts * kSumLanes columns and their number is a multiple of kHeadsTogether; or, if
/// kParts is 0, any width and number.
template <std::size_t kParts>
class HeadDots {
 public:
  HeadDots(const RowsIn& q, const RowsIn& k, const Heads& heads, std::size_t rows)
      : q_(q),
        k_(k),
        width_(kParts ? kParts * kSumLanes : heads.width),
        cols_(heads.cols()),
        rows_(rows) {
    enter(0);
  }

  HWY_INLINE Vector next() {
    Vector sums[kLanes];
    HWY_UNROLL(16)
    for (std::size_t i = 0; i < kLanes; ++i) {
      sums[place_of_lane(i)] = dot<kParts>(left_ + head_, right_ + head_, width_).folded();
      head_ += width_;
      if ((i + 1) % kTogether == 0 && head_ == cols_) enter(row_ + 1);
    }
    // A sum that begins with 0 is never -0.
    return kParts ? hn::Add(totals_of(sums), hn::Zero(Tag())) : totals_of(sums);
  }

 private:
  /// Rows end only after multiples of as many products.
  static constexpr std::size_t kTogether = kParts ? std::min(kHeadsTogether, kLanes) : 1;

  // Stays in the last row.
  HWY_INLINE void enter(std::size_t row) {
    head_ = 0;
    if (row == rows_) return;
    row_ = row;
    left_ = row_of(q_, row, cols_);
    right_ = row_of(k_, row, cols_);
    prefetch_ahead(k_, row, rows_, /*whole=*/true);
  }

  const RowsIn &q_, &k_;
  std::size_t width_, cols_, rows_;
  std::size_t row_ = 0, head_ = 0;  // the next product; `head_` in columns
  const float *left_ = nullptr, *right_ = nullptr;
};

/// Calls f with the template argument of HeadDots for these heads.
template <class F>
HWY_INLINE void with_parts(const Heads& heads, const F& f) {
  const bool together = heads.count % kHeadsTogether == 0;
  if (together && heads.width == 2 * kSumLanes) return f(std::integral_constant<std::size_t, 2>());
  if (together && heads.width == 4 * kSumLanes) return f(std::integral_constant<std::size_t, 4>());
  f(std::integral_constant<std::size_t, 0>());
}

/// The products of rows of q and k; rows of out have heads.count elements, one after another.
inline void dots_of_rows(const RowsIn& q, const RowsIn& k, const Heads& heads, std::size_t rows,
                         float* out) {
  if (rows == 0) return;
  const Vector factor = broadcast(heads.scale);
  with_parts(heads, [&](auto parts) HWY_ATTR {
    HeadDots<decltype(parts)::value> dots(q, k, heads, rows);
    for_each_vector(rows * heads.count, [&](std::size_t i, auto lanes) HWY_ATTR {
      write(hn::Mul(factor, dots.next()), out + i, lanes);
    });
  });
}

// --- Several queries with the same keys ---

#if HWY_TARGET != HWY_SCALAR

/// Queries that are multiplied by a key at once: their sums of columns fill the registers.
inline constexpr std::size_t kQueries = HWY_CAP_GE512 ? 4 : 2;
/// Fewer queries are not worth the transposition of keys.
inline constexpr std::size_t kFewestQueries = 4;

/// The rows of 4 vectors' blocks of 4 lanes become columns: lane r of block b of vector m was lane
/// m of block b of vector r.
HWY_INLINE void transpose_blocks(Vector (&x)[4]) {
  const Tag d;
  const hn::Repartition<std::uint64_t, Tag> pairs;
  const auto lower = [&](Vector a, Vector b)
                         HWY_ATTR { return hn::BitCast(pairs, hn::InterleaveLower(d, a, b)); };
  const auto upper = [&](Vector a, Vector b)
                         HWY_ATTR { return hn::BitCast(pairs, hn::InterleaveUpper(d, a, b)); };
  const auto lower01 = lower(x[0], x[1]), upper01 = upper(x[0], x[1]);
  const auto lower23 = lower(x[2], x[3]), upper23 = upper(x[2], x[3]);
  x[0] = hn::BitCast(d, hn::InterleaveLower(pairs, lower01, lower23));
  x[1] = hn::BitCast(d, hn::InterleaveUpper(pairs, lower01, lower23));
  x[2] = hn::BitCast(d, hn::InterleaveLower(pairs, upper01, upper23));
  x[3] = hn::BitCast(d, hn::InterleaveUpper(pairs, upper01, upper23));
}

/// kLanes keys, transposed: a vector for each column.
class KeyBlock {
 public:
  /// Keys first … first + count - 1; the others are zeros.
  void assign(const RowsIn& k, std::size_t first, std::size_t count, std::size_t cols) {
    if (size_ < cols * kLanes) {
      columns_ = hwy::AllocateAligned<float>(cols * kLanes);
      size_ = cols * kLanes;
    }
    const float* keys[kLanes];
    for (std::size_t i = 0; i < kLanes; ++i)
      keys[i] = i < count ? row_of(k, first + i, cols) : nullptr;
    for (std::size_t c = 0; c < cols; c += kLanes) transpose(keys, c, columns_.get() + c * kLanes);
  }

  HWY_INLINE const float* column(std::size_t c) const { return columns_.get() + c * kLanes; }

 private:
  static HWY_INLINE void transpose(const float* const* keys, std::size_t c, float* to) {
    constexpr std::size_t kBlocks = kLanes / 4;
    Vector parts[kBlocks][4];
    HWY_UNROLL(4)
    for (std::size_t b = 0; b < kBlocks; ++b) {
      HWY_UNROLL(4)
      for (std::size_t i = 0; i < 4; ++i) {
        const float* key = keys[4 * b + i];
        parts[b][i] = key ? load(key + c) : hn::Zero(Tag());
      }
      transpose_blocks(parts[b]);
    }
    HWY_UNROLL(4)
    for (std::size_t m = 0; m < 4; ++m) store_columns(parts, m, to + m * kLanes);
  }

  /// Stores columns m, m + 4, …, whose blocks of keys are the blocks of parts[…][m].
  static HWY_INLINE void store_columns(const Vector (&parts)[kLanes / 4][4], std::size_t m,
                                       float* to) {
    [[maybe_unused]] const Tag d;
#if HWY_CAP_GE512
    const auto even = [&](Vector a, Vector b)
                          HWY_ATTR { return hn::OddEvenBlocks(hn::SwapAdjacentBlocks(b), a); };
    const auto odd = [&](Vector a, Vector b)
                         HWY_ATTR { return hn::OddEvenBlocks(b, hn::SwapAdjacentBlocks(a)); };
    const Vector even01 = even(parts[0][m], parts[1][m]), odd01 = odd(parts[0][m], parts[1][m]);
    const Vector even23 = even(parts[2][m], parts[3][m]), odd23 = odd(parts[2][m], parts[3][m]);
    store(hn::ConcatLowerLower(d, even23, even01), to);
    store(hn::ConcatLowerLower(d, odd23, odd01), to + 4 * kLanes);
    store(hn::ConcatUpperUpper(d, even23, even01), to + 8 * kLanes);
    store(hn::ConcatUpperUpper(d, odd23, odd01), to + 12 * kLanes);
#elif HWY_CAP_GE256
    store(hn::ConcatLowerLower(d, parts[1][m], parts[0][m]), to);
    store(hn::ConcatUpperUpper(d, parts[1][m], parts[0][m]), to + 4 * kLanes);
#else
    store(parts[0][m], to);
#endif
  }

  hwy::AlignedFreeUniquePtr<float[]> columns_;
  std::size_t size_ = 0;
};

/// The products of kQueries queries with the columns kFirst, kFirst + kStep, … of keys, summed as
/// LaneSum and its total sum them: lanes of kSumLanes columns, then halves.
template <std::size_t kFirst, std::size_t kStep>
HWY_INLINE void add_columns(const float* const (&q)[kQueries], const float* keys, std::size_t width,
                            Vector (&sums)[kQueries]) {
  if constexpr (kStep == kSumLanes) {
    const auto product = [&](std::size_t r, std::size_t c, Vector key)
                             HWY_ATTR { return hn::Mul(broadcast(q[r][c]), key); };
    Vector key = load(keys + kFirst * kLanes);
    HWY_UNROLL(4)
    for (std::size_t r = 0; r < kQueries; ++r) sums[r] = product(r, kFirst, key);
    for (std::size_t c = kFirst + kSumLanes; c < width; c += kSumLanes) {
      key = load(keys + c * kLanes);
      HWY_UNROLL(4)
      for (std::size_t r = 0; r < kQueries; ++r) sums[r] = hn::Add(product(r, c, key), sums[r]);
    }
  } else {
    Vector others[kQueries];
    add_columns<kFirst, 2 * kStep>(q, keys, width, sums);
    add_columns<kFirst + kStep, 2 * kStep>(q, keys, width, others);
    HWY_UNROLL(4)
    for (std::size_t r = 0; r < kQueries; ++r) sums[r] = hn::Add(sums[r], others[r]);
  }
}

/// The products of queries and a block of keys for kHeadsTogether heads from `head` on. out[r]
/// receives the products of query r and the first `count` keys: heads.count elements for each key.
HWY_NOINLINE inline void multiply_keys(const float* const (&queries)[kQueries],
                                       const KeyBlock& keys, const Heads& heads, std::size_t head,
                                       std::size_t count, float* const (&out)[kQueries]) {
  Vector products[kQueries][kHeadsTogether];
  for (std::size_t h = 0; h < kHeadsTogether; ++h) {
    const std::size_t first = (head + h) * heads.width;
    const float* q[kQueries];
    for (std::size_t r = 0; r < kQueries; ++r) q[r] = queries[r] + first;
    Vector sums[kQueries];
    add_columns<0, 1>(q, keys.column(first), heads.width, sums);
    // A sum that begins with 0 is never -0.
    for (std::size_t r = 0; r < kQueries; ++r)
      products[r][h] = hn::Mul(broadcast(heads.scale), hn::Add(sums[r], hn::Zero(Tag())));
  }
  for (std::size_t r = 0; r < kQueries; ++r) {
    transpose_blocks(products[r]);
    HWY_ALIGN float blocks[kHeadsTogether][kLanes];  // of key 4 b + m: block b of row m
    for (std::size_t m = 0; m < kHeadsTogether; ++m) hn::Store(products[r][m], Tag(), blocks[m]);
    for (std::size_t key = 0; key < count; ++key)
      std::memcpy(out[r] + key * heads.count + head, &blocks[key % 4][key / 4 * 4],
                  kHeadsTogether * sizeof(float));
  }
}

/// Left rows that are paired with the same right rows: `rows` of them, whose pairs begin with
/// `first` and are `keys` each.
struct Siblings {
  std::size_t rows, first, keys;

  std::size_t pair(std::size_t row) const { return first + row * keys; }
};

inline bool shares_keys(const Heads& heads, std::size_t siblings) {
  return siblings >= kFewestQueries && heads.count % kHeadsTogether == 0 &&
         heads.width % kSumLanes == 0 && heads.width > 0;
}

/// The products of all pairs of siblings; q and k have a row for each pair, out heads.count
/// elements.
inline void dots_of_siblings(const RowsIn& q, const RowsIn& k, const Heads& heads,
                             const Siblings& siblings, float* out) {
  static thread_local KeyBlock keys;
  for (std::size_t begin = 0; begin < siblings.keys; begin += kLanes) {
    const std::size_t count = std::min(kLanes, siblings.keys - begin);
    if (3 * count < kLanes) {  // few keys of a block
      for (std::size_t r = 0; r < siblings.rows; ++r) {
        const std::size_t pair = siblings.pair(r) + begin;
        dots_of_rows(rows_from(q, pair), rows_from(k, pair), heads, count,
                     out + pair * heads.count);
      }
      break;
    }
    keys.assign(k, siblings.first + begin, count, heads.cols());
    for (std::size_t r = 0; r < siblings.rows; r += kQueries) {
      const float* queries[kQueries];
      float* to[kQueries];
      for (std::size_t i = 0; i < kQueries; ++i) {
        const std::size_t pair = siblings.pair(std::min(r + i, siblings.rows - 1));
        queries[i] = row_of(q, pair, heads.cols());
        to[i] = out + (pair + begin) * heads.count;
      }
      for (std::size_t head = 0; head < heads.count; head += kHeadsTogether)
        multiply_keys(queries, keys, heads, head, count, to);
    }
  }
}

#endif

}  // namespace fuselage::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FUSELAGE_CPU_KERNELS_HEAD_DOTS_INL_H_
