// Attention to quantized keys and values, with a scale for each head. Scores are sums of integers,
// which are exact, so they are the same in any order.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "backends/cpu/simd/table.h"
#include "backends/cpu/simd/targets.h"
#include "fuselage/base/error.h"
#include "fuselage/base/quantized.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backends/cpu/simd/rows/quantized_attention.cpp"
#include "hwy/foreach_target.h"
// Compiled once per target: included after foreach_target.h.
#include "backends/cpu/simd/gemm/integer_arithmetic-inl.h"
#include "backends/cpu/simd/rows/lanes-inl.h"
#include "backends/cpu/simd/rows/mixtures-inl.h"
#include "backends/cpu/simd/rows/paired_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace fuselage::cpu::HWY_NAMESPACE {
namespace {

// --- Scores ---

// Integers that add_pairs multiplies at once.
constexpr std::size_t kShorts = 2 * kLanes;

// The integers of a quantized vector, which follow its scale.
template <class Integer>
HWY_INLINE const Integer* integers_of(const float* vector) {
  return reinterpret_cast<const Integer*>(vector + 1);
}

// The lanes of the sum of products of kWidth integers, or of `width` if kWidth is 0.
template <std::size_t kWidth>
HWY_INLINE IntVector dot(const std::int16_t* a, const std::int8_t* b, std::size_t width) {
  const std::size_t n = kWidth ? kWidth : width;
  PairSums sums = sums_from<PairSums>(hn::Zero(IntTag()));
  std::size_t i = 0;
  HWY_UNROLL(8)
  for (; i + kShorts <= n; i += kShorts)
    sums = add_pairs(hn::BitCast(IntTag(), load_pairs(a + i)), load_pairs(b + i), sums);
  static_assert(kWidth % kShorts == 0);
  if (kWidth == 0 && i < n) {
    std::int16_t last_a[kShorts] = {};
    std::int8_t last_b[kShorts] = {};
    std::memcpy(last_a, a + i, (n - i) * sizeof *a);
    std::memcpy(last_b, b + i, n - i);
    sums = add_pairs(hn::BitCast(IntTag(), load_pairs(last_a)), load_pairs(last_b), sums);
  }
  return as_vector(sums);
}

// The scores of the pairs of one left row, head by head, kLanes of them at a time. It prefetches
// the keys of the pairs before `end`, some of which belong to later left rows.
template <std::size_t kWidth>
class QuantizedDots {
 public:
  QuantizedDots(const RowsIn& q, const RowsIn& k, const QuantizedHeads& heads, Pairs pairs,
                std::size_t end)
      : k_(k),
        query_(row_of(q, pairs.begin, q.columns)),
        width_(heads.width),
        query_vector_(q.columns / heads.count),
        key_vector_(k.columns / heads.count),
        heads_(heads.count),
        scale_(broadcast(heads.scale)),
        pairs_(pairs),
        end_(end) {
    enter();
  }

  HWY_INLINE Vector next() {
    IntVector sums[kLanes];
    HWY_ALIGN float scales[kLanes];
    HWY_UNROLL(16)
    for (std::size_t i = 0; i < kLanes; ++i) {
      sums[place_of_lane(i)] =
          dot<kWidth>(integers_of<std::int16_t>(q_), integers_of<std::int8_t>(key_), width_);
      scales[i] = *q_ * *key_;
      advance();
    }
    const Vector products = hn::ConvertTo(Tag(), totals_of(sums));
    return hn::Mul(hn::Mul(products, hn::Load(Tag(), scales)), scale_);
  }

 private:
  HWY_INLINE void advance() {
    q_ += query_vector_;
    key_ += key_vector_;
    if (++head_ < heads_) return;
    if (pairs_.begin + 1 < pairs_.end) ++pairs_.begin;  // stays in the last row
    enter();
  }

  HWY_INLINE void enter() {
    head_ = 0;
    q_ = query_;
    key_ = row_of(k_, pairs_.begin, k_.columns);
    prefetch_ahead(k_, pairs_.begin, end_, /*whole=*/true);
  }

  const RowsIn& k_;
  const float* query_;
  std::size_t width_, query_vector_, key_vector_, heads_;  // vectors in floats
  Vector scale_;
  Pairs pairs_;  // those that remain
  std::size_t end_;
  std::size_t head_ = 0;                       // the next product
  const float *q_ = nullptr, *key_ = nullptr;  // its vectors
};

// Calls f with the template argument of QuantizedDots for a width.
template <class F>
HWY_INLINE void with_width(std::size_t width, const F& f) {
  if (width == 32) return f(std::integral_constant<std::size_t, 32>());
  if (width == 64) return f(std::integral_constant<std::size_t, 64>());
  f(std::integral_constant<std::size_t, 0>());
}

void check_heads(const RowsIn& x, DType dtype, const QuantizedHeads& heads) {
  check(heads.count > 0 && heads.width > 0 &&
            x.columns * sizeof(float) ==
                heads.count * vector_bytes(dtype, static_cast<std::int64_t>(heads.width)),
        "quantized attention: rows of other heads");
}

void quantized_dot_scores(const RowsIn& q, const RowsIn& k, const QuantizedHeads& heads,
                          const Segments& segments, float* out) {
  check_heads(q, DType::qint16, heads);
  check_heads(k, DType::qint8, heads);
  if (segments.count == 0) return;
  const std::size_t end = pairs_of(segments, segments.count - 1).end;
  for (std::size_t i = 0; i < segments.count; ++i) {
    const Pairs pairs = pairs_of(segments, i);
    if (pairs.begin == pairs.end) continue;
    with_width(heads.width, [&](auto width) HWY_ATTR {
      QuantizedDots<decltype(width)::value> dots(q, k, heads, pairs, end);
      float* to = out + pairs.begin * heads.count;
      for_each_vector((pairs.end - pairs.begin) * heads.count,
                      [&](std::size_t n, auto lanes)
                          HWY_ATTR { write(dots.next(), to + n, lanes); });
    });
  }
}

// --- Mixtures ---

// A head of a row of quantized vectors. The scale is part of the weight.
class QuantizedHead {
 public:
  // A vector is its scale and its integers, four to a float; check_heads compares with
  // vector_bytes.
  HWY_INLINE QuantizedHead(const float* row, std::size_t head, std::size_t width)
      : QuantizedHead(row + head * (1 + (width + 3) / 4)) {}

  HWY_INLINE Vector weight(float w) const { return broadcast(w * scale_); }
  HWY_INLINE Vector load(std::size_t c) const { return converted(integers_ + c); }
  HWY_INLINE Vector load_n(std::size_t c, std::size_t n) const {
    std::int8_t last[kLanes] = {};
    std::memcpy(last, integers_ + c, n);
    return converted(last);
  }

 private:
  HWY_INLINE explicit QuantizedHead(const float* vector)
      : scale_(*vector), integers_(integers_of<std::int8_t>(vector)) {}

  static HWY_INLINE Vector converted(const std::int8_t* integers) {
    const auto bytes = hn::LoadU(hn::Rebind<std::int8_t, Tag>(), integers);
    return hn::ConvertTo(Tag(), hn::PromoteTo(IntTag(), bytes));
  }

  float scale_;
  const std::int8_t* integers_;
};

void mix_quantized_rows(const float* weights, const QuantizedHeads& heads, const RowsIn& x,
                        const Segments& segments, const RowsOut& out) {
  check_heads(x, DType::qint8, heads);
  mix_all<QuantizedHead>({weights, x, heads.count, heads.width}, segments, out);
}

}  // namespace

std::int64_t fill_quantized_attention(KernelTable& table) {
  table.quantized_dot_scores = quantized_dot_scores;
  table.mix_quantized_rows = mix_quantized_rows;
  return HWY_TARGET;
}

}  // namespace fuselage::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
FUSELAGE_DISPATCH_FAMILY(fill_quantized_attention)
#endif
