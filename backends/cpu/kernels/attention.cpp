#include <algorithm>
#include <cstddef>
#include <limits>

#include "backends/cpu/kernels/families.h"
#include "backends/cpu/kernels/table.h"
#include "backends/cpu/kernels/targets.h"
#include "base/error.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/kernels/attention.cpp"
#include "hwy/foreach_target.h"
// Compiled once a target, so after that.
#include "backends/cpu/kernels/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fuselage::cpu::HWY_NAMESPACE {
namespace {

struct Pairs {
  std::size_t begin;
  std::size_t end;
};

Pairs pairs_of(const Segments& segments, std::size_t i) {
  return {static_cast<std::size_t>(segments.begin[i]),
          static_cast<std::size_t>(segments.begin[i + 1])};
}

HWY_INLINE float dot(const float* a, const float* b, std::size_t n) {
  LaneSum sum;
  sum.add(n, [&](std::size_t i, auto lanes, Vector part)
                 HWY_ATTR { return mul_add(read(a + i, lanes), read(b + i, lanes), part); });
  return sum.total();
}

void head_dot(const RowsIn& q, const RowsIn& k, std::size_t heads, float scale, std::size_t rows,
              std::size_t cols, const RowsOut& out) {
  check(heads > 0 && cols % heads == 0, "head_dot: the heads do not divide the columns");
  check(q.columns == cols && k.columns == cols, "head_dot: column counts differ");
  const std::size_t width = cols / heads;
  for (std::size_t r = 0; r < rows; ++r) {
    const float* left = row_of(q, r, cols);
    const float* right = row_of(k, r, cols);
    float* to = out.data + r * out.stride;
    for (std::size_t h = 0; h < heads; ++h)
      to[h] = scale * dot(left + h * width, right + h * width, width);
  }
}

HWY_INLINE Vector denominator(Vector q, Vector k) {
  // Where tanh is 1 to the last bit, the square stays small enough for a product of four.
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

// With tanh(x) = 1 - 2 / (1 + exp(x)^2), the dot product of v and tanh but for the sum of v, which
// is the same for all pairs.
float factored_score(const float* q, const float* k, const float* v, std::size_t n) {
  LaneSum sum;
  std::size_t c = 0;
  for (; c + 4 * kSumLanes <= n; c += 4 * kSumLanes) {
    HWY_UNROLL(4)
    for (std::size_t i = 0; i < LaneSum::kVectors; ++i) {
      const std::size_t at = c + i * kLanes;
      sum.parts[i] = hn::Add(sum.parts[i], sum_of_terms(q + at, k + at, v + at));
    }
  }
  sum.add(n - c, [&](std::size_t i, auto lanes, Vector part) HWY_ATTR {
    const Vector d = denominator(read(q + c + i, lanes), read(k + c + i, lanes));
    return hn::Add(part, hn::Div(read(v + c + i, lanes), d));
  });
  return -2.0f * sum.total();
}

void factored_scores(const RowsIn& q, const RowsIn& k, const float* v, std::size_t cols,
                     const Segments& segments, float* out) {
  check(q.columns == cols && k.columns == cols, "factored_scores: column counts differ");
  for (std::size_t i = 0; i < segments.count; ++i) {
    const float* query = row_of(q, i, cols);
    const Pairs pairs = pairs_of(segments, i);
    for (std::size_t p = pairs.begin; p < pairs.end; ++p)
      out[p] = factored_score(query, row_of(k, p, cols), v, cols);
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
  for (std::size_t p = pairs.begin; p < pairs.end; ++p) {
    const Vector y = exp_of_nonpositive(hn::Sub(read(e + p * heads, lanes), largest));
    sum = hn::Add(sum, y);
    write(y, out + p * heads, lanes);
  }
  sum = hn::IfThenElse(hn::Eq(sum, zero), broadcast(1.0f), sum);
  for (std::size_t p = pairs.begin; p < pairs.end; ++p) {
    float* y = out + p * heads;
    write(hn::Div(read(y, lanes), sum), y, lanes);
  }
}

void segment_softmax(const float* e, std::size_t heads, const Segments& segments, float* out) {
  for (std::size_t i = 0; i < segments.count; ++i)
    for_each_vector(heads, [&](std::size_t h, auto lanes) HWY_ATTR {
      softmax_down(e + h, heads, pairs_of(segments, i), lanes, out + h);
    });
}

// kCount vectors of one segment's weighted sum, from `column` on; `weights` points at the head.
template <std::size_t kCount>
void mix_block(const float* weights, std::size_t heads, const RowsIn& x, std::size_t cols,
               std::size_t column, Pairs pairs, float* out) {
  Vector sums[kCount];
  HWY_UNROLL(4)
  for (std::size_t v = 0; v < kCount; ++v) sums[v] = hn::Zero(Tag());
  for (std::size_t p = pairs.begin; p < pairs.end; ++p) {
    const float* from = row_of(x, p, cols) + column;
    const Vector weight = broadcast(weights[p * heads]);
    HWY_UNROLL(4)
    for (std::size_t v = 0; v < kCount; ++v)
      sums[v] = mul_add(weight, load(from + v * kLanes), sums[v]);
  }
  HWY_UNROLL(4)
  for (std::size_t v = 0; v < kCount; ++v) store(sums[v], out + column + v * kLanes);
}

void mix_last(const float* weights, std::size_t heads, const RowsIn& x, std::size_t cols,
              std::size_t column, std::size_t n, Pairs pairs, float* out) {
  Vector sum = hn::Zero(Tag());
  for (std::size_t p = pairs.begin; p < pairs.end; ++p) {
    const Vector from = load_n(row_of(x, p, cols) + column, n, 0.0f);
    sum = mul_add(broadcast(weights[p * heads]), from, sum);
  }
  store_n(sum, out + column, n);
}

void mix_head(const float* weights, std::size_t heads, const RowsIn& x, std::size_t cols,
              std::size_t begin, std::size_t end, Pairs pairs, float* out) {
  std::size_t c = begin;
  for (; c + 4 * kLanes <= end; c += 4 * kLanes)
    mix_block<4>(weights, heads, x, cols, c, pairs, out);
  if (c + 2 * kLanes <= end) {
    mix_block<2>(weights, heads, x, cols, c, pairs, out);
    c += 2 * kLanes;
  }
  if (c + kLanes <= end) {
    mix_block<1>(weights, heads, x, cols, c, pairs, out);
    c += kLanes;
  }
  if (c < end) mix_last(weights, heads, x, cols, c, end - c, pairs, out);
}

void mix_rows(const float* weights, std::size_t heads, const RowsIn& x, std::size_t cols,
              const Segments& segments, const RowsOut& out) {
  check(heads > 0 && cols % heads == 0, "mix_rows: the heads do not divide the columns");
  check(x.columns == cols, "mix_rows: column counts differ");
  const std::size_t width = cols / heads;
  for (std::size_t i = 0; i < segments.count; ++i)
    for (std::size_t h = 0; h < heads; ++h)
      mix_head(weights + h, heads, x, cols, h * width, (h + 1) * width, pairs_of(segments, i),
               out.data + i * out.stride);
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

}  // namespace

std::int64_t fill_attention(KernelTable& table) {
  table.head_dot = head_dot;
  table.factored_scores = factored_scores;
  table.segment_softmax = segment_softmax;
  table.mix_rows = mix_rows;
  table.mean_rows = mean_rows;
  return HWY_TARGET;
}

}  // namespace fuselage::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace fuselage::cpu {
namespace {
HWY_EXPORT(fill_attention);
}
std::int64_t fill_attention(KernelTable& table) {
  return HWY_DYNAMIC_DISPATCH(fill_attention)(table);
}
}  // namespace fuselage::cpu
#endif
