// Reductions of the lanes of sums, bitwise equal to LaneSum::total. Compiled once per target, hence
// the unusual guard.
#if defined(FUSELAGE_CPU_KERNELS_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FUSELAGE_CPU_KERNELS_LANES_INL_H_
#undef FUSELAGE_CPU_KERNELS_LANES_INL_H_
#else
#define FUSELAGE_CPU_KERNELS_LANES_INL_H_
#endif

#include <cstddef>

#include "backends/cpu/simd/vector-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fuselage::cpu::HWY_NAMESPACE {

// --- The totals of several sums ---

/// The place, in the order of totals_of, of the sum whose total is in lane `lane`: the lane's
/// number with its bits reversed.
constexpr std::size_t place_of_lane(std::size_t lane) {
  std::size_t place = 0;
  for (std::size_t bit = 1; bit < kLanes; bit *= 2) place = 2 * place + (lane & bit ? 1 : 0);
  return place;
}

#if HWY_TARGET == HWY_SCALAR

template <class V>
HWY_INLINE V totals_of(const V (&sums)[kLanes]) {
  return sums[0];
}

#else

/// Half the vectors: the lower half of each is added to the upper half, and two share a vector.
template <class V, std::size_t kCount>
HWY_INLINE void add_halves(const V (&x)[kCount], V (&sums)[kCount / 2]) {
  const hn::DFromV<V> d;
  HWY_UNROLL(8)
  for (std::size_t i = 0; i < kCount / 2; ++i)
    sums[i] = hn::Add(hn::ConcatLowerLower(d, x[2 * i + 1], x[2 * i]),
                      hn::ConcatUpperUpper(d, x[2 * i + 1], x[2 * i]));
}

#if HWY_CAP_GE512
/// The same for the halves of halves, blocks of four lanes.
template <class V, std::size_t kCount>
HWY_INLINE void add_blocks(const V (&x)[kCount], V (&sums)[kCount / 2]) {
  HWY_UNROLL(4)
  for (std::size_t i = 0; i < kCount / 2; ++i) {
    const V a = x[2 * i], b = x[2 * i + 1];
    sums[i] = hn::Add(hn::OddEvenBlocks(hn::SwapAdjacentBlocks(b), a),
                      hn::OddEvenBlocks(b, hn::SwapAdjacentBlocks(a)));
  }
}
#endif

/// The same within blocks of four lanes, down to one vector.
template <class V>
HWY_INLINE V add_within_blocks(const V (&x)[4]) {
  const hn::DFromV<V> d;
  const hn::Repartition<std::uint64_t, decltype(d)> pairs;
  const auto halved = [&](V a, V b) HWY_ATTR {
    const auto p = hn::BitCast(pairs, a), q = hn::BitCast(pairs, b);
    return hn::Add(hn::BitCast(d, hn::InterleaveLower(pairs, p, q)),
                   hn::BitCast(d, hn::InterleaveUpper(pairs, p, q)));
  };
  const V a = halved(x[0], x[1]), b = halved(x[2], x[3]);
  return hn::Add(hn::OddEven(hn::DupEven(b), a), hn::OddEven(b, hn::DupOdd(a)));
}

/// The totals of kLanes folded sums, of floats or of 32-bit integers, in the lanes of a vector; sum
/// place_of_lane(i) in lane i.
template <class V>
HWY_INLINE V totals_of(const V (&sums)[kLanes]) {
#if HWY_CAP_GE512
  V halves[8], blocks[4];
  add_halves(sums, halves);
  add_blocks(halves, blocks);
  return add_within_blocks(blocks);
#elif HWY_CAP_GE256
  V halves[4];
  add_halves(sums, halves);
  return add_within_blocks(halves);
#else
  return add_within_blocks(sums);
#endif
}

#endif

// --- Interleaved sums ---

/// A vector with the lanes exchanged that are kDistance apart.
template <std::size_t kDistance>
HWY_INLINE Vector exchanged(Vector v) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (kDistance == 1) return hn::Shuffle2301(v);
  if constexpr (kDistance == 2) return hn::Shuffle1032(v);
  if constexpr (kDistance == 4 && kLanes > 4) return hn::SwapAdjacentBlocks(v);
  if constexpr (kDistance == 8 && kLanes > 8) return hn::ConcatLowerUpper(Tag(), v, v);
#endif
  return v;
}

/// Combines the lanes of kSumLanes that are equal modulo `period`, a divisor of kSumLanes, by
/// repeated halving; each of them gets the result.
template <class Op, std::size_t kDistance = kSumLanes / 2>
HWY_INLINE void combine_lanes(std::size_t period, LaneSum& sums, const Op& op) {
  if constexpr (kDistance > 0) {
    if (kDistance < period) return;
    const LaneSum x = sums;
    for (std::size_t v = 0; v < LaneSum::kVectors; ++v)
      sums.parts[v] = op(x.parts[v], kDistance < kLanes
                                         ? exchanged<kDistance>(x.parts[v])
                                         : x.parts[(v ^ (kDistance / kLanes)) % LaneSum::kVectors]);
    combine_lanes<Op, kDistance / 2>(period, sums, op);
  }
}

}  // namespace fuselage::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FUSELAGE_CPU_KERNELS_LANES_INL_H_
