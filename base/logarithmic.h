#pragma once

#include <cstddef>
#include <cstdint>

namespace fuselage {

// Logarithmic numbers: a sign and a power of two, which stand for the integers ±1, ±2, …, ±128
// times a scale (Aji and Heafield 2020, "Compressing neural machine translation models with 4-bit
// precision", whose largest level S is 128 scales here). A number becomes the nearest level, and
// the larger of two that are equally near.

/// The exponent of the largest level of a weight, and of a row's.
inline constexpr int kTopExponent = 7;
inline constexpr int kTopRowExponent = 6;

/// How scales of logarithmic vectors are found.
enum class ScaleFit : std::uint8_t {
  largest,  ///< the largest level is the largest magnitude
  fitted    ///< the least squared error that expectation-maximization finds from there
};

/// The e of the 2^e nearest to q ≥ 0, between `least` and `most`.
int nearest_exponent(float q, int least, int most);

/// The least exponent of numbers of `bits` bits, 1 to 4: one is the sign, and the levels are the
/// upper 2^(bits - 1).
int least_exponent(int bits);

/// A scale for the k numbers at x, the largest of which is `top` in magnitude; all are finite. It
/// is a number that bf16 holds unless only the exact one, top / 128, reproduces all of x. A fitted
/// scale alternates between the nearest levels and the scale of least squared error for them, until
/// neither changes or 20 times; its squared error is never above that of `largest`.
float logarithmic_scale(ScaleFit fit, int bits, const float* x, std::int64_t k, float top);

/// Element i of packed nibbles: bit 3 is the sign, bits 0 to 2 are the exponent, and the low nibble
/// of a byte comes first.
std::int32_t nibble_value(const std::byte* nibbles, std::int64_t i);
void put_nibble(std::byte* nibbles, std::int64_t i, bool negative, int exponent);

}  // namespace fuselage
