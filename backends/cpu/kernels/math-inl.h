// Functions of a vector of floats, right over the whole range. Compiled once a target.
#if defined(FUSELAGE_CPU_KERNELS_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FUSELAGE_CPU_KERNELS_MATH_INL_H_
#undef FUSELAGE_CPU_KERNELS_MATH_INL_H_
#else
#define FUSELAGE_CPU_KERNELS_MATH_INL_H_
#endif

#include <limits>

#include "backends/cpu/kernels/vector-inl.h"
#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fuselage::cpu::HWY_NAMESPACE {

// Highway's functions convert to integers on the way, for which NaN has no value.
HWY_INLINE Vector exp_of(Vector x) {
  const auto number = hn::Eq(x, x);
  // At 89 the result overflows; far above that Highway's wraps around.
  const Vector y = hn::Exp(Tag(), hn::Min(hn::IfThenElseZero(number, x), broadcast(89.0f)));
  return hn::IfThenElse(number, y, x);
}

/// exp of numbers that are at most 0, such as scores less the largest one, in less than half the
/// time. Its relative error is 3e-7; below -87 it gives 0.
HWY_INLINE Vector exp_of_nonpositive(Vector x) {
  // Adding 1.5 * 2^23 rounds to an integer, which with the exponent's bias ends up in the low bits.
  constexpr float kRound = 12582912.0f + 127.0f;
  const Vector biased = hn::MulAdd(x, broadcast(1.44269504f), broadcast(kRound));
  const Vector n = hn::Sub(biased, broadcast(kRound));
  const Vector r = hn::NegMulAdd(n, broadcast(0.693147181f), x);
  // (exp(r) - 1) / r over |r| <= log(2) / 2, interpolated at Chebyshev nodes.
  Vector p = hn::MulAdd(broadcast(0.00836320315f), r, broadcast(0.0418758541f));
  p = hn::MulAdd(p, r, broadcast(0.166665763f));
  p = hn::MulAdd(p, r, broadcast(0.499993712f));
  p = hn::MulAdd(p, r, broadcast(1.0f));
  p = hn::MulAdd(p, r, broadcast(1.0f));
  const hn::RebindToSigned<Tag> integers;
  const Vector power = hn::BitCast(Tag(), hn::ShiftLeft<23>(hn::BitCast(integers, biased)));
  // NaN is not below -87 and stays.
  return hn::IfThenZeroElse(hn::Lt(x, broadcast(-87.0f)), hn::Mul(p, power));
}

HWY_INLINE Vector tanh_of(Vector x) {
  const auto number = hn::Eq(x, x);
  return hn::IfThenElse(number, hn::Tanh(Tag(), hn::IfThenElseZero(number, x)), x);
}

HWY_INLINE Vector log_of(Vector x) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const Vector zero = hn::Zero(Tag());
  // Highway's result is meaningless outside the positive finite numbers.
  Vector y = hn::Log(Tag(), x);
  y = hn::IfThenElse(hn::Lt(x, broadcast(kInfinity)), y, x);
  y = hn::IfThenElse(hn::Eq(x, zero), broadcast(-kInfinity), y);
  return hn::IfThenElse(hn::Lt(x, zero), broadcast(std::numeric_limits<float>::quiet_NaN()), y);
}

HWY_INLINE Vector sigmoid_of(Vector x) {
  // exp of a non-positive number cannot overflow, and keeps the small results' precision.
  const Vector one = broadcast(1.0f);
  const Vector e = exp_of(hn::Neg(hn::Abs(x)));
  return hn::Div(hn::IfThenElse(hn::Lt(x, hn::Zero(Tag())), e, one), hn::Add(one, e));
}

HWY_INLINE Vector swish_of(Vector x) { return hn::Mul(x, sigmoid_of(x)); }

/// x times the normal distribution function of x.
HWY_INLINE Vector gelu_of(Vector x) {
  // The upper tail at |x| is t * P(t) * exp(-x^2 / 2), t = 1 / (1 + 0.27 |x|), with P interpolated
  // at Chebyshev nodes over |x| <= 14; its relative error is 3e-8 and the tail is 0 beyond.
  static constexpr float kTail[] = {0.0291070282f,  -0.127242120f, 0.171444687f,
                                    -0.0712139169f, 0.109277206f,  0.0714060626f,
                                    0.101980367f,   0.107518603f,  0.107722093f};
  const Vector one = broadcast(1.0f);
  const Vector magnitude = hn::Abs(x);
  const Vector t = hn::Div(one, hn::MulAdd(broadcast(0.27f), magnitude, one));
  Vector tail = broadcast(kTail[0]);
  for (std::size_t i = 1; i < 9; ++i) tail = hn::MulAdd(tail, t, broadcast(kTail[i]));
  const Vector e = exp_of(hn::Mul(hn::Mul(broadcast(-0.5f), x), x));
  // Beyond 20 the exponential is 0, and an infinite factor would make that NaN.
  const Vector share = hn::Mul(hn::Mul(hn::Mul(tail, t), hn::Min(magnitude, broadcast(20.0f))), e);
  const Vector positive = hn::Sub(x, share);
  return hn::IfThenElse(hn::Lt(x, hn::Zero(Tag())), hn::Neg(share), positive);
}

}  // namespace fuselage::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FUSELAGE_CPU_KERNELS_MATH_INL_H_
