// Functions of float vectors, accurate over the whole range, bitwise equal on every target.
// Compiled once per target, hence the unusual guard.
#if defined(FUSELAGE_CPU_KERNELS_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef FUSELAGE_CPU_KERNELS_MATH_INL_H_
#undef FUSELAGE_CPU_KERNELS_MATH_INL_H_
#else
#define FUSELAGE_CPU_KERNELS_MATH_INL_H_
#endif

#include <cstddef>
#include <limits>

#include "backends/cpu/simd/vector-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace fuselage::cpu::HWY_NAMESPACE {

// Coefficients are minimax, found by weighted least squares in double.

// log(2) in two parts. Products of the first with integers below 2^15 are exact.
inline constexpr float kLog2High = 0.693359375f;
inline constexpr float kLog2Low = -2.12194440e-4f;

// Adding this rounds a small number to an integer n, with n + 127, the biased exponent of 2^n, in
// the low bits.
inline constexpr float kRound = 12582912.0f + 127.0f;

/// 2^n for n + kRound.
HWY_INLINE Vector power_of_two(Vector biased) {
  const hn::RebindToSigned<Tag> integers;
  return hn::BitCast(Tag(), hn::ShiftLeft<23>(hn::BitCast(integers, biased)));
}

// exp(x) = 2^n exp(r) with |r| <= log(2) / 2, and exp(r) = 1 + r + r^2 q(r).
struct ReducedExp {
  // `power` is 2^(n + k) for k = round - kRound.
  HWY_INLINE ReducedExp(Vector x, Vector round) {
    const Vector biased = hn::Add(hn::Mul(x, broadcast(1.44269504f)), round);
    const Vector n = hn::Sub(biased, round);
    Vector r = neg_mul_add(n, broadcast(kLog2High), x);
    r = neg_mul_add(n, broadcast(kLog2Low), r);
    Vector q = mul_add(broadcast(0.00138825161f), r, broadcast(0.00836654715f));
    q = mul_add(q, r, broadcast(0.0416672007f));
    q = mul_add(q, r, broadcast(0.166665434f));
    q = mul_add(q, r, broadcast(0.499999981f));
    less_one = mul_add(q, hn::Mul(r, r), r);
    power = power_of_two(biased);
  }

  Vector less_one;  // exp(r) - 1
  Vector power;
};

/// 2^k exp(x) for k = round - kRound, if the result is normal; relative error 1e-7. NaN stays NaN.
HWY_INLINE Vector scaled_exp(Vector x, Vector round) {
  const ReducedExp e(x, round);
  return hn::Mul(hn::Add(e.less_one, broadcast(1.0f)), e.power);
}

/// Replaces each x <= 0 by exp(x), for sums that contain exp(0), such as a softmax. exp(0) is
/// exactly 1; the absolute error is below 2e-7, the relative error below 3e-7 + 6e-8 |x|; below -87
/// the result is 0. The vectors are interleaved step by step to hide latency.
template <std::size_t kCount>
HWY_INLINE void exp_of_nonpositive(Vector (&x)[kCount]) {
  // 2^n 2^f with |f| <= 1/2, by y = x / log(2), which is rounded.
  Vector biased[kCount], f[kCount], p[kCount];
  HWY_UNROLL(8)
  for (std::size_t v = 0; v < kCount; ++v) {
    f[v] = hn::Mul(x[v], broadcast(1.44269504f));
    biased[v] = hn::Add(f[v], broadcast(kRound));
  }
  HWY_UNROLL(8)
  for (std::size_t v = 0; v < kCount; ++v)
    f[v] = hn::Sub(f[v], hn::Sub(biased[v], broadcast(kRound)));
  HWY_UNROLL(8)
  for (std::size_t v = 0; v < kCount; ++v)
    p[v] = mul_add(broadcast(0.00132646449f), f[v], broadcast(0.00967157648f));
  HWY_UNROLL(4)
  for (const float coefficient : {0.0555073452f, 0.240222411f, 0.693146977f, 1.0f}) {
    HWY_UNROLL(8)
    for (std::size_t v = 0; v < kCount; ++v) p[v] = mul_add(p[v], f[v], broadcast(coefficient));
  }
  // NaN is not below -87, so it stays.
  HWY_UNROLL(8)
  for (std::size_t v = 0; v < kCount; ++v)
    x[v] =
        hn::IfThenZeroElse(hn::Lt(x[v], broadcast(-87.0f)), hn::Mul(p[v], power_of_two(biased[v])));
}

/// The same for one vector.
HWY_INLINE Vector exp_of_nonpositive(Vector x) {
  Vector one[] = {x};
  exp_of_nonpositive(one);
  return one[0];
}

/// exp of x <= 0, down to -infinity; relative error 1e-7.
HWY_INLINE Vector small_exp_of(Vector x) {
  // At -104 the result is 0. A denormal result is rounded once, when a normal number is scaled.
  const Vector bounded = max_of(broadcast(-104.0f), x);
  return hn::Mul(scaled_exp(bounded, broadcast(kRound + 64)), broadcast(0x1p-64f));
}

/// The exponential function; its relative error is 1e-7.
HWY_INLINE Vector exp_of(Vector x) {
  // From 89 on the result overflows; at -104 it is 0. The scaled number is closer to 1.
  const Vector bounded = max_of(broadcast(-104.0f), min_of(broadcast(89.0f), x));
  const auto small = hn::Lt(x, hn::Zero(Tag()));
  const Vector round = hn::IfThenElse(small, broadcast(kRound + 64), broadcast(kRound - 64));
  const Vector scale = hn::IfThenElse(small, broadcast(0x1p-64f), broadcast(0x1p64f));
  return hn::Mul(scaled_exp(bounded, round), scale);
}

/// The hyperbolic tangent; its relative error is 2e-7.
HWY_INLINE Vector tanh_of(Vector x) {
  // tanh |x| = (e - 1) / (e - 1 + 2) with e = exp(2 |x|); 1 from 10 on.
  const Vector magnitude = min_of(broadcast(10.0f), hn::Abs(x));
  const ReducedExp e(hn::Add(magnitude, magnitude), broadcast(kRound));
  const Vector less_one = mul_add(e.less_one, e.power, hn::Sub(e.power, broadcast(1.0f)));
  return hn::CopySign(hn::Div(less_one, hn::Add(less_one, broadcast(2.0f))), x);
}

/// The natural logarithm; its relative error is 1e-7. -infinity at 0, NaN below.
HWY_INLINE Vector log_of(Vector x) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const Vector zero = hn::Zero(Tag());
  const Vector one = broadcast(1.0f);
  // x = 2^n m with m between sqrt(1/2) and sqrt(2), denormals once they are normal.
  const hn::RebindToSigned<Tag> integers;
  const auto tiny = hn::Lt(x, broadcast(std::numeric_limits<float>::min()));
  const Vector normal = hn::Mul(x, hn::IfThenElse(tiny, broadcast(0x1p24f), one));
  const auto bits = hn::BitCast(integers, normal);
  const auto exponent =
      hn::ShiftRight<23>(hn::Sub(bits, hn::BitCast(integers, broadcast(0.707106781f))));
  const Vector m = hn::BitCast(Tag(), hn::Sub(bits, hn::ShiftLeft<23>(exponent)));
  const Vector n = hn::Sub(hn::ConvertTo(Tag(), exponent), hn::IfThenElseZero(tiny, broadcast(24)));
  // With f = m - 1 and s = f / (2 + f), log(m) = 2 atanh(s) = f - f^2 / 2 + s (f^2 / 2 + R(s^2)).
  const Vector f = hn::Sub(m, one);
  const Vector s = hn::Div(f, hn::Add(f, broadcast(2.0f)));
  const Vector z = hn::Mul(s, s);
  Vector rest = mul_add(broadcast(0.298851906f), z, broadcast(0.399770792f));
  rest = hn::Mul(mul_add(rest, z, broadcast(0.666667798f)), z);
  const Vector half_square = hn::Mul(hn::Mul(f, f), broadcast(0.5f));
  rest = mul_add(n, broadcast(kLog2Low), hn::Mul(s, hn::Add(half_square, rest)));
  Vector y = hn::Sub(f, hn::Sub(half_square, rest));
  y = mul_add(n, broadcast(kLog2High), y);
  // The result above is valid only for positive finite numbers.
  y = hn::IfThenElse(hn::Lt(x, broadcast(kInfinity)), y, x);
  y = hn::IfThenElse(hn::Eq(x, zero), broadcast(-kInfinity), y);
  return hn::IfThenElse(hn::Lt(x, zero), broadcast(std::numeric_limits<float>::quiet_NaN()), y);
}

/// The same for one number.
inline float exp_of_nonpositive(float x) { return hn::GetLane(exp_of_nonpositive(broadcast(x))); }
inline float log_of(float x) { return hn::GetLane(log_of(broadcast(x))); }

/// 1 / (1 + exp(-x)); its relative error is 2e-7.
HWY_INLINE Vector sigmoid_of(Vector x) {
  // exp of a non-positive number cannot overflow and keeps the precision of small results.
  const Vector one = broadcast(1.0f);
  const Vector e = small_exp_of(hn::Neg(hn::Abs(x)));
  return hn::Div(hn::IfThenElse(hn::Lt(x, hn::Zero(Tag())), e, one), hn::Add(one, e));
}

/// 0 for negative numbers, else x. Not hn::Max, which would turn NaN into 0.
HWY_INLINE Vector relu_of(Vector x) { return hn::IfThenZeroElse(hn::Lt(x, hn::Zero(Tag())), x); }

/// x sigmoid(x); its relative error is 3e-7.
HWY_INLINE Vector swish_of(Vector x) { return hn::Mul(x, sigmoid_of(x)); }

/// x times the normal distribution function of x; relative error 7e-7 down to x = -4.
HWY_INLINE Vector gelu_of(Vector x) {
  // The upper tail at |x| is t * P(t) * exp(-x^2 / 2), t = 1 / (1 + 0.27 |x|), with P interpolated
  // at Chebyshev nodes over |x| <= 14; its relative error is 3e-8 and the tail is 0 beyond.
  static constexpr float kTail[] = {0.0291070282f,  -0.127242120f, 0.171444687f,
                                    -0.0712139169f, 0.109277206f,  0.0714060626f,
                                    0.101980367f,   0.107518603f,  0.107722093f};
  const Vector one = broadcast(1.0f);
  const Vector magnitude = hn::Abs(x);
  const Vector t = hn::Div(one, mul_add(broadcast(0.27f), magnitude, one));
  Vector tail = broadcast(kTail[0]);
  for (std::size_t i = 1; i < 9; ++i) tail = mul_add(tail, t, broadcast(kTail[i]));
  const Vector e = small_exp_of(hn::Mul(hn::Mul(broadcast(-0.5f), x), x));
  // Beyond 20 the exponential is 0; an infinite factor would give NaN.
  const Vector share = hn::Mul(hn::Mul(hn::Mul(tail, t), min_of(broadcast(20.0f), magnitude)), e);
  const Vector positive = hn::Sub(x, share);
  return hn::IfThenElse(hn::Lt(x, hn::Zero(Tag())), hn::Neg(share), positive);
}

}  // namespace fuselage::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // FUSELAGE_CPU_KERNELS_MATH_INL_H_
