#pragma once

#include <cstddef>
#include <cstdint>

#include "fuselage/base/quantized.h"

namespace fuselage {

// Logarithmic numbers: a sign and a power of two, representing the integers ±1, ±2, …, ±128 times a
// scale (Aji and Heafield 2020, "Compressing neural machine translation models with 4-bit
// precision"; their largest level S is 128 scales here). A number is rounded to the nearest level,
// ties to the larger magnitude.

/// Exponents of the largest level of weights and of rows.
inline constexpr int kTopExponent = 7;
inline constexpr int kTopRowExponent = 6;

/// The exponent e, between `least` and `most`, of the power 2^e nearest to q ≥ 0.
int nearest_exponent(float q, int least, int most);

/// The minimum exponent of numbers of `bits` bits, 1 to 4. One bit is the sign; the levels are the
/// upper 2^(bits - 1).
int least_exponent(int bits);

/// A scale for the k finite numbers at x with maximum magnitude `top`. It is representable in bf16,
/// unless only the exact scale top / 128 reproduces all of x. `fitted` alternates between assigning
/// the nearest levels and computing the least-squares scale for them, until neither changes, at
/// most 20 times; its squared error never exceeds the error of `largest`.
float logarithmic_scale(ScaleFit fit, int bits, const float* x, std::int64_t k, float top);

/// Element i of packed nibbles: bit 3 is the sign, bits 0 to 2 are the exponent, and the low nibble
/// of a byte comes first.
inline std::int32_t nibble_value(const std::byte* nibbles, std::int64_t i) {
  const auto byte = static_cast<unsigned>(nibbles[i / 2]);
  const unsigned nibble = i % 2 == 0 ? byte & 15u : byte >> 4;
  const std::int32_t magnitude = 1 << (nibble & 7u);
  return (nibble & 8u) != 0 ? -magnitude : magnitude;
}
void put_nibble(std::byte* nibbles, std::int64_t i, bool negative, int exponent);

}  // namespace fuselage
