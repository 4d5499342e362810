#include <algorithm>
#include <cstddef>
#include <limits>
#include <type_traits>
#include <utility>

#include "backends/cpu/simd/table.h"
#include "backends/cpu/simd/targets.h"
#include "fuselage/base/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/simd/rows/attention.cpp"
#include "hwy/foreach_target.h"
// Compiled once per target: included after foreach_target.h.
#include "backends/cpu/simd/elementwise/math-inl.h"
#include "backends/cpu/simd/rows/head_dots-inl.h"
#include "backends/cpu/simd/rows/lanes-inl.h"
#include "backends/cpu/simd/rows/mixtures-inl.h"
#include "backends/cpu/simd/rows/paired_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fuselage::cpu::HWY_NAMESPACE {
namespace {

void head_dot(const RowsIn& q, const RowsIn& k, std::size_t heads, float scale, std::size_t rows,
              std::size_t cols, const RowsOut& out) {
  check(heads > 0 && cols % heads == 0, "head_dot: the heads do not divide the columns");
  check(q.columns == cols && k.columns == cols, "head_dot: column counts differ");
  const Heads all{.count = heads, .width = cols / heads, .scale = scale};
  if (rows == 0) return;
  if (out.stride == heads) return dots_of_rows(q, k, all, rows, out.data);
  HeadDots<0> dots(q, k, all, rows);
  HWY_ALIGN float products[kLanes];
  for (std::size_t i = 0; i < rows * heads; ++i) {
    if (i % kLanes == 0) store(hn::Mul(broadcast(scale), dots.next()), products);
    out.data[i / heads * out.stride + i % heads] = products[i % kLanes];
  }
}

void dot_scores(const RowsIn& q, const RowsIn& k, std::size_t heads, float scale, std::size_t cols,
                const Segments& segments, float* out) {
  check(heads > 0 && cols % heads == 0, "dot_scores: the heads do not divide the columns");
  check(q.columns == cols && k.columns == cols, "dot_scores: column counts differ");
  if (segments.count == 0) return;
  const Heads all{.count = heads, .width = cols / heads, .scale = scale};
  std::size_t first = pairs_of(segments, 0).begin;  // of the pairs without siblings before row i
  const auto finish = [&](std::size_t end) {
    dots_of_rows(rows_from(q, first), rows_from(k, first), all, end - first, out + first * heads);
  };
  for (std::size_t i = 0; i < segments.count;) {
    [[maybe_unused]] const Pairs pairs = pairs_of(segments, i);
    const std::size_t rows = siblings(k, segments, i, segments.count);
#if HWY_TARGET != HWY_SCALAR
    if (shares_keys(all, rows)) {
      finish(pairs.begin);
      dots_of_siblings(q, k, all, {rows, pairs.begin, pairs.end - pairs.begin}, out);
      first = pairs_of(segments, i + rows - 1).end;
    }
#endif
    i += rows;
  }
  finish(pairs_of(segments, segments.count - 1).end);
}

// out = f(row of x, pair) for the rows of pairs, for a vector of heads; x and out point at the
// first of them and may be the same. A row is read before the row ahead of it is written: after a
// part of a vector is written, a read of what lies behind that part waits.
template <class Lanes, class F>
HWY_INLINE void map_rows(const float* x, std::size_t heads, Pairs pairs, Lanes lanes, float* out,
                         const F& f) {
  if (pairs.begin == pairs.end) return;
  Vector row = read(x + pairs.begin * heads, lanes);
  for (std::size_t p = pairs.begin; p < pairs.end; ++p) {
    const Vector next = p + 1 < pairs.end ? read(x + (p + 1) * heads, lanes) : row;
    write(f(row, p), out + p * heads, lanes);
    row = next;
  }
}

void add_biases(const RowsIn& biases, std::size_t heads, const Segments& segments, float* scores) {
  check(biases.columns == heads, "add_biases: it has another number of heads");
  if (segments.count == 0) return;
  const Pairs pairs{pairs_of(segments, 0).begin, pairs_of(segments, segments.count - 1).end};
  // Rows one after another are one row.
  if (!biases.rows && biases.stride == heads) {
    const float* bias = biases.data + pairs.begin * heads;
    float* to = scores + pairs.begin * heads;
    return for_each_vector(
        (pairs.end - pairs.begin) * heads, [&](std::size_t i, auto lanes) HWY_ATTR {
          write(hn::Add(read(to + i, lanes), read(bias + i, lanes)), to + i, lanes);
        });
  }
  for_each_vector(heads, [&](std::size_t h, auto lanes) HWY_ATTR {
    map_rows(scores + h, heads, pairs, lanes, scores + h,
             [&](Vector score, std::size_t p)
                 HWY_ATTR { return hn::Add(score, read(row_of(biases, p, heads) + h, lanes)); });
  });
}

HWY_INLINE Vector denominator(Vector q, Vector k) {
  // Clamped where tanh is exactly 1, so that a product of four squares does not overflow.
  const Vector root = min_of(broadcast(3e4f), hn::Mul(q, k));
  return mul_add(root, root, broadcast(1.0f));
}

// Terms v / (1 + (q k)^2) of four columns of each lane as one fraction: four divisions become one.
HWY_INLINE Vector sum_of_terms(const float* q, const float* k, const float* v) {
  constexpr std::size_t kStep = kSumLanes;
  const Vector d0 = denominator(load(q), load(k));
  const Vector d1 = denominator(load(q + kStep), load(k + kStep));
  const Vector d2 = denominator(load(q + 2 * kStep), load(k + 2 * kStep));
  const Vector d3 = denominator(load(q + 3 * kStep), load(k + 3 * kStep));
  const Vector n01 = mul_add(load(v), d1, hn::Mul(load(v + kStep), d0));
  const Vector n23 = mul_add(load(v + 2 * kStep), d3, hn::Mul(load(v + 3 * kStep), d2));
  const Vector d01 = hn::Mul(d0, d1);
  const Vector d23 = hn::Mul(d2, d3);
  return hn::Div(mul_add(n01, d23, hn::Mul(n23, d01)), hn::Mul(d01, d23));
}

// With tanh(x) = 1 - 2 / (1 + exp(x)^2), the dot products of v and tanh but for the sum of v, which
// is the same for all pairs; for kRows queries with one key.
template <std::size_t kRows>
HWY_INLINE void factored_scores_of(const float* const (&q)[kRows], const float* k, const float* v,
                                   std::size_t n, float* const (&out)[kRows]) {
  LaneSum sums[kRows];
  std::size_t c = 0;
  for (; c + 4 * kSumLanes <= n; c += 4 * kSumLanes) {
    HWY_UNROLL(4)
    for (std::size_t i = 0; i < LaneSum::kVectors; ++i) {
      const std::size_t at = c + i * kLanes;
      HWY_UNROLL(6)
      for (std::size_t r = 0; r < kRows; ++r)
        sums[r].parts[i] = hn::Add(sums[r].parts[i], sum_of_terms(q[r] + at, k + at, v + at));
    }
  }
  for (std::size_t r = 0; r < kRows; ++r) {
    sums[r].add(n - c, [&](std::size_t i, auto lanes, Vector part) HWY_ATTR {
      const Vector d = denominator(read(q[r] + c + i, lanes), read(k + c + i, lanes));
      return hn::Add(part, hn::Div(read(v + c + i, lanes), d));
    });
    *out[r] = -2.0f * sums[r].total();
  }
}

// The scores of kRows left rows from row i on, which are siblings.
template <std::size_t kRows>
HWY_NOINLINE void score_siblings(const RowsIn& q, const RowsIn& k, const float* v, std::size_t cols,
                                 const Segments& segments, std::size_t i, float* out) {
  const float* queries[kRows];
  float* scores[kRows];
  for (std::size_t r = 0; r < kRows; ++r) {
    queries[r] = row_of(q, i + r, cols);
    scores[r] = out + pairs_of(segments, i + r).begin;
  }
  const Pairs pairs = pairs_of(segments, i);
  for (std::size_t p = pairs.begin; p < pairs.end; ++p) {
    factored_scores_of<kRows>(queries, row_of(k, p, cols), v, cols, scores);
    for (float*& score : scores) ++score;
  }
}

void factored_scores(const RowsIn& q, const RowsIn& k, const float* v, std::size_t cols,
                     const Segments& segments, float* out) {
  check(q.columns == cols && k.columns == cols, "factored_scores: column counts differ");
  for (std::size_t i = 0; i < segments.count;) {
    const std::size_t rows = siblings(k, segments, i, kSiblings);
    with_siblings(
        rows, [&](auto n) { score_siblings<decltype(n)::value>(q, k, v, cols, segments, i, out); });
    i += rows;
  }
}

// Softmax down the pairs for a vector of heads; e and out point at the first of them.
template <class Lanes>
void softmax_down(const float* e, std::size_t heads, Pairs pairs, Lanes lanes, float* out) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const Vector zero = hn::Zero(Tag());
  Vector largest = broadcast(-kInfinity);
  for (std::size_t p = pairs.begin; p < pairs.end; ++p)
    largest = max_of(read(e + p * heads, lanes), largest);
  largest = hn::IfThenElse(hn::Eq(largest, broadcast(-kInfinity)), zero, largest);
  Vector sum = zero;
  map_rows(e, heads, pairs, lanes, out, [&](Vector x, std::size_t) HWY_ATTR {
    const Vector y = exp_of_nonpositive(hn::Sub(x, largest));
    sum = hn::Add(sum, y);
    return y;
  });
  sum = hn::IfThenElse(hn::Eq(sum, zero), broadcast(1.0f), sum);
  map_rows(out, heads, pairs, lanes, out,
           [&](Vector y, std::size_t) HWY_ATTR { return hn::Div(y, sum); });
}

// The same for all heads of pairs that are contiguous, if their number divides kSumLanes: lane i of
// a sum belongs to head i % heads.
HWY_INLINE void softmax_along(const float* e, std::size_t heads, std::size_t pairs, float* out) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const std::size_t count = pairs * heads;
  LaneSum largest(-kInfinity);
  largest.add(count, [&](std::size_t i, auto lanes, Vector part)
                         HWY_ATTR { return max_of(read(e + i, lanes, -kInfinity), part); });
  combine_lanes(heads, largest, [](Vector a, Vector b) HWY_ATTR { return max_of(a, b); });
  for (Vector& top : largest.parts)
    top = hn::IfThenElse(hn::Eq(top, broadcast(-kInfinity)), hn::Zero(Tag()), top);
  LaneSum sums;
  for_each_lane_vector(count, [&](std::size_t i, auto lanes, std::size_t v) HWY_ATTR {
    const Vector y = exp_of_nonpositive(hn::Sub(read(e + i, lanes, -kInfinity), largest.parts[v]));
    write(y, out + i, lanes);
    sums.parts[v] = hn::Add(sums.parts[v], y);
  });
  combine_lanes(heads, sums, [](Vector a, Vector b) HWY_ATTR { return hn::Add(a, b); });
  for (Vector& sum : sums.parts)
    sum = hn::IfThenElse(hn::Eq(sum, hn::Zero(Tag())), broadcast(1.0f), sum);
  for_each_lane_vector(count, [&](std::size_t i, auto lanes, std::size_t v) HWY_ATTR {
    write(hn::Div(read(out + i, lanes), sums.parts[v]), out + i, lanes);
  });
}

void segment_softmax(const float* e, std::size_t heads, const Segments& segments, float* out) {
  for (std::size_t i = 0; i < segments.count; ++i) {
    const Pairs pairs = pairs_of(segments, i);
    if (kSumLanes % heads == 0)
      softmax_along(e + pairs.begin * heads, heads, pairs.end - pairs.begin,
                    out + pairs.begin * heads);
    else
      for_each_vector(heads, [&](std::size_t h, auto lanes)
                                 HWY_ATTR { softmax_down(e + h, heads, pairs, lanes, out + h); });
  }
}

// A head of a row of floats.
class FloatHead {
 public:
  HWY_INLINE FloatHead(const float* row, std::size_t head, std::size_t width)
      : columns_(row + head * width) {}

  static HWY_INLINE Vector weight(float w) { return broadcast(w); }
  HWY_INLINE Vector load(std::size_t c) const { return cpu::HWY_NAMESPACE::load(columns_ + c); }
  HWY_INLINE Vector load_n(std::size_t c, std::size_t n) const {
    return cpu::HWY_NAMESPACE::load_n(columns_ + c, n, 0.0f);
  }

 private:
  const float* columns_;
};

void mix_rows(const float* weights, std::size_t heads, const RowsIn& x, std::size_t cols,
              const Segments& segments, const RowsOut& out) {
  check(heads > 0 && cols % heads == 0, "mix_rows: the heads do not divide the columns");
  check(x.columns == cols, "mix_rows: column counts differ");
  mix_all<FloatHead>({weights, x, heads, cols / heads}, segments, out);
}

template <class Lanes>
void mean_block(const RowsIn& x, std::size_t cols, std::size_t column, Lanes lanes, Pairs pairs,
                float* out) {
  Vector sum = hn::Zero(Tag());
  for (std::size_t p = pairs.begin; p < pairs.end; ++p)
    sum = hn::Add(sum, read(row_of(x, p, cols) + column, lanes));
  const std::size_t count = std::max<std::size_t>(pairs.end - pairs.begin, 1);
  write(hn::Div(sum, broadcast(static_cast<float>(count))), out + column, lanes);
}

void mean_rows(const RowsIn& x, std::size_t cols, const Segments& segments, const RowsOut& out) {
  check(x.columns == cols, "mean_rows: column counts differ");
  for (std::size_t i = 0; i < segments.count; ++i) {
    const Pairs pairs = pairs_of(segments, i);
    float* to = out.data + i * out.stride;
    for_each_vector(cols, [&](std::size_t c, auto lanes)
                              HWY_ATTR { mean_block(x, cols, c, lanes, pairs, to); });
  }
}

template <RowReduction kReduction, class Lanes>
HWY_INLINE void reduce_block(const RowsIn& x, std::size_t cols, std::size_t column, Lanes lanes,
                             Pairs pairs, float* out) {
  const Vector lowest = broadcast(-std::numeric_limits<float>::infinity());
  const Vector zero = hn::Zero(Tag());
  Vector largest = lowest;
  if (kReduction != RowReduction::sum)
    for (std::size_t p = pairs.begin; p < pairs.end; ++p) {
      const Vector from = read(row_of(x, p, cols) + column, lanes);
      // max_of gives its second operand if either is NaN.
      largest = hn::IfThenElse(hn::IsNaN(largest), largest, max_of(largest, from));
    }
  if (kReduction == RowReduction::max) return write(largest, out + column, lanes);
  const Vector shift = hn::IfThenElse(hn::Eq(largest, lowest), zero, largest);
  Vector sum = zero;
  for (std::size_t p = pairs.begin; p < pairs.end; ++p) {
    const Vector from = read(row_of(x, p, cols) + column, lanes);
    sum = hn::Add(
        sum, kReduction == RowReduction::sum ? from : exp_of_nonpositive(hn::Sub(from, shift)));
  }
  if (kReduction == RowReduction::log_sum_exp) sum = hn::Add(log_of(sum), shift);
  write(sum, out + column, lanes);
}

template <RowReduction kReduction>
void reduce_rows_by(const RowsIn& x, std::size_t cols, const Segments& segments,
                    const RowsOut& out) {
  check(x.columns == cols, "reduce_rows: column counts differ");
  for (std::size_t i = 0; i < segments.count; ++i) {
    const Pairs pairs = pairs_of(segments, i);
    float* to = out.data + i * out.stride;
    for_each_vector(cols, [&](std::size_t c, auto lanes)
                              HWY_ATTR { reduce_block<kReduction>(x, cols, c, lanes, pairs, to); });
  }
}

void reduce_rows(RowReduction reduction, const RowsIn& x, std::size_t cols,
                 const Segments& segments, const RowsOut& out) {
  switch (reduction) {
    case RowReduction::sum:
      return reduce_rows_by<RowReduction::sum>(x, cols, segments, out);
    case RowReduction::max:
      return reduce_rows_by<RowReduction::max>(x, cols, segments, out);
    case RowReduction::log_sum_exp:
      return reduce_rows_by<RowReduction::log_sum_exp>(x, cols, segments, out);
  }
}

}  // namespace

std::int64_t fill_attention(KernelTable& table) {
  table.head_dot = head_dot;
  table.dot_scores = dot_scores;
  table.add_biases = add_biases;
  table.factored_scores = factored_scores;
  table.segment_softmax = segment_softmax;
  table.mix_rows = mix_rows;
  table.mean_rows = mean_rows;
  table.reduce_rows = reduce_rows;
  return HWY_TARGET;
}

}  // namespace fuselage::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
FUSELAGE_DISPATCH_FAMILY(fill_attention)
#endif
