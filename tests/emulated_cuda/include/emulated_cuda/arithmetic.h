#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

// Arithmetic intrinsics. Results with a rounding that CUDA defines have the same bits.

// NOLINTBEGIN(readability-identifier-naming): CUDA gave the names.

using std::max;
using std::min;

inline float rsqrtf(float x) { return 1.0f / std::sqrt(x); }

inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fmaf_rn(float a, float b, float c) { return std::fma(a, b, c); }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __frcp_rn(float a) { return 1.0f / a; }
inline float __fsqrt_rn(float a) { return std::sqrt(a); }
inline float __fdividef(float a, float b) { return a / b; }

inline int __float_as_int(float x) { return std::bit_cast<int>(x); }
inline unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
inline float __int_as_float(int x) { return std::bit_cast<float>(x); }
inline float __uint_as_float(unsigned x) { return std::bit_cast<float>(x); }

inline float __int2float_rn(int x) { return static_cast<float>(x); }

/// Ties to even; saturates, and 0 for NaN.
inline int __float2int_rn(float x) {
  if (std::isnan(x)) return 0;
  const double limited = std::clamp(static_cast<double>(x), -2147483648.0, 2147483647.0);
  return static_cast<int>(std::nearbyint(limited));
}

inline int __popc(unsigned x) { return std::popcount(x); }
inline int __popcll(unsigned long long x) { return std::popcount(x); }
inline int __clz(int x) { return std::countl_zero(static_cast<unsigned>(x)); }
inline int __ffs(int x) { return x == 0 ? 0 : std::countr_zero(static_cast<unsigned>(x)) + 1; }

/// Adds the products of four pairs of 8-bit integers to c.
inline int __dp4a(int a, int b, int c) {
  for (int shift = 0; shift < 32; shift += 8)
    c += static_cast<std::int8_t>(a >> shift) * static_cast<std::int8_t>(b >> shift);
  return c;
}

template <typename T>
T __ldg(const T* place) {
  return *place;
}
template <typename T>
T __ldcs(const T* place) {
  return *place;
}
template <typename T>
T __ldcg(const T* place) {
  return *place;
}
template <typename T>
void __stcs(T* place, T value) {
  *place = value;
}

// NOLINTEND(readability-identifier-naming)
