// Weighted sums of the right rows of pairs, head by head: the mixtures of attention. A class Head
// reads one head of a row:
//
//   Head(row, head, width)     the numbers of head `head` in the row at `row`
//   weight(w)                  the factor of the loaded numbers, for the weight w
//   load(c), load_n(c, n)      kLanes numbers from column c of the head on, or n and zeros
//
// Compiled once per target, hence the unusual guard.
#if defined(FUSELAGE_CPU_KERNELS_MIXTURES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FUSELAGE_CPU_KERNELS_MIXTURES_INL_H_
#undef FUSELAGE_CPU_KERNELS_MIXTURES_INL_H_
#else
#define FUSELAGE_CPU_KERNELS_MIXTURES_INL_H_
#endif

#include <cstddef>
#include <type_traits>

#include "backends/cpu/simd/rows/paired_rows-inl.h"
#include "backends/cpu/simd/vector-inl.h"
#include "fuselage/backends/cpu/simd/rows.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fuselage::cpu::HWY_NAMESPACE {

/// What is mixed: rows of `heads` heads of `width` columns, and the weights [pairs, heads].
struct MixedRows {
  const float* weights;
  RowsIn rows;
  std::size_t heads;
  std::size_t width;

  HWY_INLINE const float* row(std::size_t pair) const { return row_of(rows, pair, rows.columns); }
};

/// One head of some left rows: its weights for their first pair, and its mixtures.
template <std::size_t kRows>
struct Mixtures {
  const float* weights[kRows];
  float* out[kRows];
};

/// kCount vectors of the weighted sums of a head over some pairs, from `column` on.
template <class Head, std::size_t kRows, std::size_t kCount>
HWY_INLINE void mix_block(const Mixtures<kRows>& mixtures, const MixedRows& x, std::size_t head,
                          std::size_t column, Pairs pairs) {
  Vector sums[kRows][kCount];
  HWY_UNROLL(6)
  for (std::size_t r = 0; r < kRows; ++r) {
    HWY_UNROLL(4)
    for (std::size_t v = 0; v < kCount; ++v) sums[r][v] = hn::Zero(Tag());
  }
  for (std::size_t p = 0; p < pairs.end - pairs.begin; ++p) {
    const Head from(x.row(pairs.begin + p), head, x.width);
    Vector loaded[kCount];
    HWY_UNROLL(4)
    for (std::size_t v = 0; v < kCount; ++v) loaded[v] = from.load(column + v * kLanes);
    HWY_UNROLL(6)
    for (std::size_t r = 0; r < kRows; ++r) {
      const Vector weight = from.weight(mixtures.weights[r][p * x.heads]);
      HWY_UNROLL(4)
      for (std::size_t v = 0; v < kCount; ++v) sums[r][v] = mul_add(weight, loaded[v], sums[r][v]);
    }
  }
  HWY_UNROLL(6)
  for (std::size_t r = 0; r < kRows; ++r) {
    HWY_UNROLL(4)
    for (std::size_t v = 0; v < kCount; ++v)
      store(sums[r][v], mixtures.out[r] + column + v * kLanes);
  }
}

/// The last n columns of a head, for one left row.
template <class Head>
void mix_last(const float* weights, const MixedRows& x, std::size_t head, std::size_t n,
              Pairs pairs, float* out) {
  const std::size_t column = x.width - n;
  Vector sum = hn::Zero(Tag());
  for (std::size_t p = 0; p < pairs.end - pairs.begin; ++p) {
    const Head from(x.row(pairs.begin + p), head, x.width);
    sum = mul_add(from.weight(weights[p * x.heads]), from.load_n(column, n), sum);
  }
  store_n(sum, out + column, n);
}

template <class Head, std::size_t kRows>
HWY_NOINLINE void mix_head(const Mixtures<kRows>& mixtures, const MixedRows& x, std::size_t head,
                           Pairs pairs) {
  std::size_t c = 0;
  for (; c + 4 * kLanes <= x.width; c += 4 * kLanes)
    mix_block<Head, kRows, 4>(mixtures, x, head, c, pairs);
  if (c + 2 * kLanes <= x.width) {
    mix_block<Head, kRows, 2>(mixtures, x, head, c, pairs);
    c += 2 * kLanes;
  }
  if (c + kLanes <= x.width) {
    mix_block<Head, kRows, 1>(mixtures, x, head, c, pairs);
    c += kLanes;
  }
  if (c == x.width) return;
  for (std::size_t r = 0; r < kRows; ++r)
    mix_last<Head>(mixtures.weights[r], x, head, x.width - c, pairs, mixtures.out[r]);
}

// --- Left rows without siblings ---

/// Vectors of the sums of a single left row, of one or more heads.
inline constexpr std::size_t kLoneSums = HWY_CAP_GE512 ? 16 : 8;

/// The mixtures of a single left row from head `head` on, of kVectors vectors each: as many as have
/// kLoneSums together, so that long contiguous pieces of the right rows are read. The call for head
/// 0 prefetches whole right rows up to pair `end`, which include the right rows of later left rows.
template <class Head, std::size_t kVectors>
HWY_NOINLINE void mix_heads(const MixedRows& x, std::size_t head, Pairs pairs, std::size_t end,
                            float* out) {
  constexpr std::size_t kHeads = kLoneSums / kVectors;
  constexpr std::size_t kWidth = kVectors * kLanes;
  Vector sums[kHeads][kVectors];
  HWY_UNROLL(16)
  for (std::size_t h = 0; h < kHeads; ++h) {
    HWY_UNROLL(8)
    for (std::size_t v = 0; v < kVectors; ++v) sums[h][v] = hn::Zero(Tag());
  }
  const float* weights = x.weights + pairs.begin * x.heads + head;
  for (std::size_t p = pairs.begin; p < pairs.end; ++p, weights += x.heads) {
    if (head == 0) prefetch_ahead(x.rows, p, end, /*whole=*/x.heads == kHeads);
    const float* row = x.row(p);
    HWY_UNROLL(16)
    for (std::size_t h = 0; h < kHeads; ++h) {
      const Head from(row, head + h, kWidth);
      const Vector weight = from.weight(weights[h]);
      HWY_UNROLL(8)
      for (std::size_t v = 0; v < kVectors; ++v)
        sums[h][v] = mul_add(weight, from.load(v * kLanes), sums[h][v]);
    }
  }
  out += head * kWidth;
  HWY_UNROLL(16)
  for (std::size_t h = 0; h < kHeads; ++h) {
    HWY_UNROLL(8)
    for (std::size_t v = 0; v < kVectors; ++v, out += kLanes) store(sums[h][v], out);
  }
}

/// The mixtures of a single left row, if its heads have kVectors vectors, or a half, a quarter or
/// an eighth of that; else false.
template <class Head, std::size_t kVectors = 8>
bool mix_lone(const MixedRows& x, Pairs pairs, std::size_t end, float* out) {
  constexpr std::size_t kHeads = kLoneSums / kVectors;
  if (x.width == kVectors * kLanes && x.heads % kHeads == 0) {
    for (std::size_t h = 0; h < x.heads; h += kHeads)
      mix_heads<Head, kVectors>(x, h, pairs, end, out);
    return true;
  }
  if constexpr (kVectors > 1) return mix_lone<Head, kVectors / 2>(x, pairs, end, out);
  return false;
}

// --- All left rows ---

/// The mixtures of kRows left rows from row i on, which are siblings.
template <class Head, std::size_t kRows>
void mix_siblings(const MixedRows& x, const Segments& segments, std::size_t i, const RowsOut& out) {
  if (kRows == 1 &&
      mix_lone<Head>(x, pairs_of(segments, i), pairs_of(segments, segments.count - 1).end,
                     out.data + i * out.stride))
    return;
  for (std::size_t h = 0; h < x.heads; ++h) {
    Mixtures<kRows> mixtures;
    for (std::size_t r = 0; r < kRows; ++r) {
      mixtures.weights[r] = x.weights + pairs_of(segments, i + r).begin * x.heads + h;
      mixtures.out[r] = out.data + (i + r) * out.stride + h * x.width;
    }
    mix_head<Head>(mixtures, x, h, pairs_of(segments, i));
  }
}

/// Row i, head h of out: the sum over the pairs p of segment i, in order, of weights[p, h] * (row p
/// of x, head h).
template <class Head>
void mix_all(const MixedRows& x, const Segments& segments, const RowsOut& out) {
  for (std::size_t i = 0; i < segments.count;) {
    const std::size_t rows = siblings(x.rows, segments, i, kSiblings);
    with_siblings(rows,
                  [&](auto n) { mix_siblings<Head, decltype(n)::value>(x, segments, i, out); });
    i += rows;
  }
}

}  // namespace fuselage::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FUSELAGE_CPU_KERNELS_MIXTURES_INL_H_
