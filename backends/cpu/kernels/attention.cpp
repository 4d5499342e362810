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

// A vector of columns: all lanes, or the first n of them.
template <bool kFull>
HWY_INLINE Vector read(const float* p, std::size_t n, float fill = 0.0f) {
  return kFull ? load(p) : load_n(p, n, fill);
}
template <bool kFull>
HWY_INLINE void write(Vector v, float* p, std::size_t n) {
  kFull ? store(v, p) : store_n(v, p, n);
}

HWY_INLINE float dot(const float* a, const float* b, std::size_t n) {
  Vector even = hn::Zero(Tag());
  Vector odd = hn::Zero(Tag());
  std::size_t i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
    even = hn::MulAdd(load(a + i), load(b + i), even);
    odd = hn::MulAdd(load(a + i + kLanes), load(b + i + kLanes), odd);
  }
  if (i + kLanes <= n) {
    even = hn::MulAdd(load(a + i), load(b + i), even);
    i += kLanes;
  }
  if (i < n) odd = hn::MulAdd(load_n(a + i, n - i, 0.0f), load_n(b + i, n - i, 0.0f), odd);
  return sum_lanes(hn::Add(even, odd));
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

// Terms v / (1 + (q k)^2) of four vectors as one fraction: four divisions become one.
HWY_INLINE Vector sum_of_terms(const float* q, const float* k, const float* v) {
  // Where tanh is 1 to the last bit, the square stays small enough for a product of four.
  const Vector limit = broadcast(3e4f);
  const Vector one = broadcast(1.0f);
  const auto denominator = [&](std::size_t i) {
    const Vector root = hn::Min(limit, hn::Mul(load(q + i), load(k + i)));
    return hn::MulAdd(root, root, one);
  };
  const Vector d0 = denominator(0);
  const Vector d1 = denominator(kLanes);
  const Vector d2 = denominator(2 * kLanes);
  const Vector d3 = denominator(3 * kLanes);
  const Vector n01 = hn::MulAdd(load(v), d1, hn::Mul(load(v + kLanes), d0));
  const Vector n23 = hn::MulAdd(load(v + 2 * kLanes), d3, hn::Mul(load(v + 3 * kLanes), d2));
  const Vector d01 = hn::Mul(d0, d1);
  const Vector d23 = hn::Mul(d2, d3);
  return hn::Div(hn::MulAdd(n01, d23, hn::Mul(n23, d01)), hn::Mul(d01, d23));
}

HWY_INLINE Vector term(Vector q, Vector k, Vector v) {
  const Vector root = hn::Min(broadcast(3e4f), hn::Mul(q, k));
  return hn::Div(v, hn::MulAdd(root, root, broadcast(1.0f)));
}

// With tanh(x) = 1 - 2 / (1 + exp(x)^2), the dot product of v and tanh but for the sum of v, which
// is the same for all pairs.
float factored_score(const float* q, const float* k, const float* v, std::size_t n) {
  Vector sum = hn::Zero(Tag());
  std::size_t i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes)
    sum = hn::Add(sum, sum_of_terms(q + i, k + i, v + i));
  for (; i + kLanes <= n; i += kLanes)
    sum = hn::Add(sum, term(load(q + i), load(k + i), load(v + i)));
  if (i < n)
    sum = hn::Add(sum, term(load_n(q + i, n - i, 1.0f), load_n(k + i, n - i, 1.0f),
                            load_n(v + i, n - i, 0.0f)));
  return -2.0f * sum_lanes(sum);
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

// Softmax down the pairs for `n` <= kLanes heads; e and out point at the first of them.
template <bool kFull>
void softmax_down(const float* e, std::size_t heads, Pairs pairs, std::size_t n, float* out) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const Vector zero = hn::Zero(Tag());
  Vector largest = broadcast(-kInfinity);
  for (std::size_t p = pairs.begin; p < pairs.end; ++p)
    largest = hn::Max(read<kFull>(e + p * heads, n), largest);
  largest = hn::IfThenElse(hn::Eq(largest, broadcast(-kInfinity)), zero, largest);
  Vector sum = zero;
  for (std::size_t p = pairs.begin; p < pairs.end; ++p) {
    const Vector y = exp_of(hn::Sub(read<kFull>(e + p * heads, n), largest));
    sum = hn::Add(sum, y);
    write<kFull>(y, out + p * heads, n);
  }
  sum = hn::IfThenElse(hn::Eq(sum, zero), broadcast(1.0f), sum);
  for (std::size_t p = pairs.begin; p < pairs.end; ++p) {
    float* y = out + p * heads;
    write<kFull>(hn::Div(read<kFull>(y, n), sum), y, n);
  }
}

void segment_softmax(const float* e, std::size_t heads, const Segments& segments, float* out) {
  for (std::size_t i = 0; i < segments.count; ++i) {
    const Pairs pairs = pairs_of(segments, i);
    std::size_t h = 0;
    for (; h + kLanes <= heads; h += kLanes)
      softmax_down<true>(e + h, heads, pairs, kLanes, out + h);
    if (h < heads) softmax_down<false>(e + h, heads, pairs, heads - h, out + h);
  }
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
      sums[v] = hn::MulAdd(weight, load(from + v * kLanes), sums[v]);
  }
  HWY_UNROLL(4)
  for (std::size_t v = 0; v < kCount; ++v) store(sums[v], out + column + v * kLanes);
}

void mix_last(const float* weights, std::size_t heads, const RowsIn& x, std::size_t cols,
              std::size_t column, std::size_t n, Pairs pairs, float* out) {
  Vector sum = hn::Zero(Tag());
  for (std::size_t p = pairs.begin; p < pairs.end; ++p) {
    const Vector from = load_n(row_of(x, p, cols) + column, n, 0.0f);
    sum = hn::MulAdd(broadcast(weights[p * heads]), from, sum);
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

template <bool kFull>
void mean_block(const RowsIn& x, std::size_t cols, std::size_t column, std::size_t n, Pairs pairs,
                float* out) {
  Vector sum = hn::Zero(Tag());
  for (std::size_t p = pairs.begin; p < pairs.end; ++p)
    sum = hn::Add(sum, read<kFull>(row_of(x, p, cols) + column, n));
  const std::size_t count = std::max<std::size_t>(pairs.end - pairs.begin, 1);
  write<kFull>(hn::Div(sum, broadcast(static_cast<float>(count))), out + column, n);
}

void mean_rows(const RowsIn& x, std::size_t cols, const Segments& segments, const RowsOut& out) {
  check(x.columns == cols, "mean_rows: column counts differ");
  for (std::size_t i = 0; i < segments.count; ++i) {
    const Pairs pairs = pairs_of(segments, i);
    float* to = out.data + i * out.stride;
    std::size_t c = 0;
    for (; c + kLanes <= cols; c += kLanes) mean_block<true>(x, cols, c, kLanes, pairs, to);
    if (c < cols) mean_block<false>(x, cols, c, cols - c, pairs, to);
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
