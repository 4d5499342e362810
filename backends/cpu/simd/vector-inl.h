// Partial vectors, and arithmetic with equal bits on every target: no contraction, and no order of
// operations depends on the vector size. Compiled once per target, hence the unusual guard.
#if defined(FUSELAGE_CPU_KERNELS_VECTOR_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FUSELAGE_CPU_KERNELS_VECTOR_INL_H_
#undef FUSELAGE_CPU_KERNELS_VECTOR_INL_H_
#else
#define FUSELAGE_CPU_KERNELS_VECTOR_INL_H_
#endif

#include <cstddef>
#include <cstring>

#include "hwy/highway.h"

#ifdef FUSELAGE_SANITIZED
// With sanitizers, unrolled code takes many minutes to compile.
#undef HWY_UNROLL
#define HWY_UNROLL(factor)
#endif

HWY_BEFORE_NAMESPACE();
namespace fuselage::cpu::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<float>;
using Vector = hn::Vec<Tag>;
inline constexpr std::size_t kLanes = HWY_LANES(float);
/// Whether there are 32 vector registers, or 16.
inline constexpr bool kHas32Registers = HWY_CAP_GE512 || HWY_ARCH_ARM_A64;

HWY_INLINE Vector load(const float* p) { return hn::LoadU(Tag(), p); }
HWY_INLINE Vector broadcast(float x) { return hn::Set(Tag(), x); }
HWY_INLINE void store(Vector v, float* p) { hn::StoreU(v, Tag(), p); }

/// The first n < kLanes elements at p, then `fill`. Reads no further than p + n.
HWY_INLINE Vector load_n(const float* p, std::size_t n, float fill) {
#if HWY_TARGET <= HWY_AVX2
  const auto mask = hn::FirstN(Tag(), n);
  return hn::IfThenElse(mask, hn::MaskedLoad(mask, Tag(), p), broadcast(fill));
#else
  HWY_ALIGN float buffer[kLanes];
  hn::Store(broadcast(fill), Tag(), buffer);
  std::memcpy(buffer, p, n * sizeof(float));
  return hn::Load(Tag(), buffer);
#endif
}

/// Writes the first n < kLanes lanes and nothing after them.
HWY_INLINE void store_n(Vector v, float* p, std::size_t n) {
#if HWY_TARGET <= HWY_AVX2
  hn::BlendedStore(v, hn::FirstN(Tag(), n), Tag(), p);
#else
  HWY_ALIGN float buffer[kLanes];
  hn::Store(v, Tag(), buffer);
  std::memcpy(p, buffer, n * sizeof(float));
#endif
}

/// Keeps v in a register: g++ reloads an operand for each instruction that uses it.
template <class V>
HWY_INLINE void hold([[maybe_unused]] V& v) {
#if HWY_COMPILER_GCC_ACTUAL && HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR
  asm("" : "+v"(v.raw));
#endif
}

/// A vector's lanes: all of them, or the first n < kLanes.
struct AllLanes {};
struct FirstLanes {
  std::size_t n;
};

HWY_INLINE Vector read(const float* p, AllLanes, float = 0.0f) { return load(p); }
HWY_INLINE Vector read(const float* p, FirstLanes lanes, float fill = 0.0f) {
  return load_n(p, lanes.n, fill);
}
HWY_INLINE void write(Vector v, float* p, AllLanes) { store(v, p); }
HWY_INLINE void write(Vector v, float* p, FirstLanes lanes) { store_n(v, p, lanes.n); }

/// Calls f(i, lanes) for n elements, vector by vector: for those from i on.
template <class F>
HWY_INLINE void for_each_vector(std::size_t n, const F& f) {
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) f(i, AllLanes());
  if (i < n) f(i, FirstLanes{n - i});
}

/// a * b + c and c - a * b, rounded twice as without fused instructions.
HWY_INLINE Vector mul_add(Vector a, Vector b, Vector c) { return hn::Add(hn::Mul(a, b), c); }
HWY_INLINE Vector neg_mul_add(Vector a, Vector b, Vector c) { return hn::Sub(c, hn::Mul(a, b)); }

/// a > b ? a : b and a < b ? a : b, also for zeros of both signs; b if either is NaN.
HWY_INLINE Vector max_of(Vector a, Vector b) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
  return hn::Max(a, b);
#else
  return hn::IfThenElse(hn::Gt(a, b), a, b);
#endif
}
HWY_INLINE Vector min_of(Vector a, Vector b) {
#if HWY_ARCH_X86 && HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128
  return hn::Min(a, b);
#else
  return hn::IfThenElse(hn::Lt(a, b), a, b);
#endif
}

HWY_INLINE float max_lanes(Vector v) { return hn::GetLane(hn::MaxOfLanes(Tag(), v)); }

#if HWY_TARGET == HWY_SCALAR
HWY_INLINE float sum_lanes(Tag, Vector v) { return hn::GetLane(v); }
#else
/// The sum of a vector's lanes: adds the lower and upper halves repeatedly, down to one lane.
template <class D>
HWY_INLINE float sum_lanes(D, hn::Vec<D> v) {
  if constexpr (hn::MaxLanes(D()) == 4) {
    const auto pair = hn::Add(v, hn::Shuffle1032(v));
    return hn::GetLane(hn::Add(pair, hn::Shuffle2301(pair)));
  } else {
    const hn::Half<D> half;
    return sum_lanes(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}
#endif

/// Lanes of a sum over a row, independent of the vector size: element i is added to lane i % 16.
inline constexpr std::size_t kSumLanes = 16;

/// Calls f(i, lanes, v) for n elements, vector by vector, for those from i on: v is the vector of
/// kSumLanes lanes that element i belongs to.
template <class F>
HWY_INLINE void for_each_lane_vector(std::size_t n, const F& f) {
  constexpr std::size_t kVectors = kSumLanes / kLanes;
  std::size_t i = 0;
  for (; i + kSumLanes <= n; i += kSumLanes) {
    HWY_UNROLL(4)
    for (std::size_t v = 0; v < kVectors; ++v) f(i + v * kLanes, AllLanes(), v);
  }
  HWY_UNROLL(4)
  for (std::size_t v = 0; v < kVectors; ++v, i += kLanes) {
    if (kVectors > 1 && i + kLanes <= n)
      f(i, AllLanes(), v);
    else if (i < n)
      f(i, FirstLanes{n - i}, v);
  }
}

/// A sum (or another reduction) over a row.
struct LaneSum {
  static constexpr std::size_t kVectors = kSumLanes / kLanes;

  HWY_INLINE explicit LaneSum(float initial = 0.0f) {
    for (Vector& part : parts) part = broadcast(initial);
  }

  /// Adds n elements, the first of them to the first lane: add(i, lanes, sum) returns `sum` and the
  /// vector from element i on. Elements beyond the last one must add 0.
  template <class Add>
  HWY_INLINE void add(std::size_t n, const Add& add) {
    for_each_lane_vector(n, [&](std::size_t i, auto lanes, std::size_t v)
                                HWY_ATTR { parts[v] = add(i, lanes, parts[v]); });
  }

  HWY_INLINE void add(const LaneSum& other) {
    for (std::size_t v = 0; v < kVectors; ++v) parts[v] = hn::Add(parts[v], other.parts[v]);
  }

  /// The lanes in one vector, by repeated halving.
  HWY_INLINE Vector folded() const {
    Vector sums[kVectors];
    for (std::size_t v = 0; v < kVectors; ++v) sums[v] = parts[v];
    for (std::size_t count = kVectors / 2; count > 0; count /= 2)
      for (std::size_t v = 0; v < count; ++v) sums[v] = hn::Add(sums[v], sums[v + count]);
    return sums[0];
  }

  /// The sum of the lanes, by repeated halving.
  HWY_INLINE float total() const { return sum_lanes(Tag(), folded()); }

  Vector parts[kVectors];
};

}  // namespace fuselage::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FUSELAGE_CPU_KERNELS_VECTOR_INL_H_
