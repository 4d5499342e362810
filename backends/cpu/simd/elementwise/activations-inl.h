// Approximate activations, bitwise equal to ops/arithmetic/approximate_activations.h on every
// target. Compiled once per target, hence the unusual guard.
#if defined(FUSELAGE_CPU_KERNELS_ACTIVATIONS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FUSELAGE_CPU_KERNELS_ACTIVATIONS_INL_H_
#undef FUSELAGE_CPU_KERNELS_ACTIVATIONS_INL_H_
#else
#define FUSELAGE_CPU_KERNELS_ACTIVATIONS_INL_H_
#endif

#include <array>

#include "backends/cpu/simd/vector-inl.h"
#include "hwy/highway.h"
#include "ops/arithmetic/approximate_activations.h"

HWY_BEFORE_NAMESPACE();
namespace fuselage::cpu::HWY_NAMESPACE {

HWY_INLINE Vector quadratic(const std::array<float, 3>& c, Vector z) {
  return mul_add(mul_add(broadcast(c[0]), z, broadcast(c[1])), z, broadcast(c[2]));
}

HWY_INLINE Vector tanh_fast_of(Vector x) {
  // NaN passes both limits.
  x = max_of(broadcast(-FastTanh::kLimit), min_of(broadcast(FastTanh::kLimit), x));
  const Vector z = hn::Mul(x, x);
  return hn::Div(hn::Mul(x, quadratic(FastTanh::kNumerator, z)),
                 quadratic(FastTanh::kDenominator, z));
}

HWY_INLINE Vector sigmoid_fast_of(Vector x) {
  const Vector half = broadcast(0.5f);
  return mul_add(tanh_fast_of(hn::Mul(x, half)), half, half);
}

/// The entries of a table at indices 0 … 31.
HWY_INLINE Vector look_up(const std::array<float, SigmoidTable::kEntries>& table,
                          hn::Vec<hn::RebindToSigned<Tag>> index) {
#if HWY_ARCH_X86 && HWY_CAP_GE512
  return Vector{
      _mm512_permutex2var_ps(load(table.data()).raw, index.raw, load(table.data() + kLanes).raw)};
#elif HWY_TARGET == HWY_AVX2
  // Eight entries at a time: gathering takes three times as long.
  const Tag d;
  const hn::RebindToSigned<Tag> integers;
  const auto within = hn::IndicesFromVec(d, hn::And(index, hn::Set(integers, 7)));
  const auto bit = [&](int value) HWY_ATTR {
    return hn::RebindMask(d, hn::TestBit(index, hn::Set(integers, value)));
  };
  const auto half = [&](const float* entries) HWY_ATTR {
    return hn::IfThenElse(bit(8), hn::TableLookupLanes(load(entries + 8), within),
                          hn::TableLookupLanes(load(entries), within));
  };
  return hn::IfThenElse(bit(16), half(table.data() + 16), half(table.data()));
#else
  return hn::GatherIndex(Tag(), table.data(), index);
#endif
}

HWY_INLINE Vector centered_sigmoid_table_of(Vector x) {
  // Adding this rounds a small number to a multiple of the step, with the index in the low bits.
  constexpr float kRound = SigmoidTable::kStep * 12582912.0f;
  const hn::RebindToSigned<Tag> integers;
  const Vector magnitude = min_of(broadcast(SigmoidTable::kLimit), hn::Abs(x));
  // NaN gives an arbitrary index and stays NaN.
  const auto index = hn::And(hn::BitCast(integers, hn::Add(magnitude, broadcast(kRound))),
                             hn::Set(integers, SigmoidTable::kEntries - 1));
  const Vector y = mul_add(look_up(SigmoidTable::kSlopes, index), magnitude,
                           look_up(SigmoidTable::kOffsets, index));
  return hn::CopySign(y, x);
}

HWY_INLINE Vector sigmoid_table_of(Vector x) {
  return hn::Add(centered_sigmoid_table_of(x), broadcast(0.5f));
}

HWY_INLINE Vector tanh_table_of(Vector x) {
  return hn::Mul(centered_sigmoid_table_of(hn::Add(x, x)), broadcast(2.0f));
}

}  // namespace fuselage::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FUSELAGE_CPU_KERNELS_ACTIVATIONS_INL_H_
