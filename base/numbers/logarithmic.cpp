#include "base/numbers/logarithmic.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "fuselage/base/tensor.h"

namespace fuselage {
namespace {

constexpr int kRounds = 20;

float rounded_to_bf16(float x) { return bfloat16_to_float(float_to_bfloat16(x)); }

/// Sums over a vector of magnitudes |w| rounded to levels t: of |w| t, of t², and of the squared
/// errors (|w| - scale t)².
struct Fit {
  double product = 0, square = 0, error = 0;
};

Fit fit_of(int bits, const float* x, std::int64_t k, float scale) {
  const float inverse = 1 / scale;
  const int least = least_exponent(bits);
  Fit fit;
  for (std::int64_t i = 0; i < k; ++i) {
    const float magnitude = std::fabs(x[i]);
    const double t = 1 << nearest_exponent(magnitude * inverse, least, kTopExponent);
    const double error = static_cast<double>(magnitude) - static_cast<double>(scale) * t;
    fit.product += static_cast<double>(magnitude) * t;
    fit.square += t * t;
    fit.error += error * error;
  }
  return fit;
}

float fitted_scale(int bits, const float* x, std::int64_t k, float start) {
  float scale = start;
  for (int round = 0; round < kRounds; ++round) {
    const Fit fit = fit_of(bits, x, k, scale);
    const auto next = static_cast<float>(fit.product / fit.square);
    if (next == scale) break;
    scale = next;
  }
  return scale;
}

}  // namespace

int nearest_exponent(float q, int least, int most) {
  // Adding half a mantissa carries into the exponent from 1.5 * 2^e on, the midpoint of two levels.
  constexpr std::uint32_t kHalf = 0x00400000, kBias = 127;
  const std::uint32_t biased = (std::bit_cast<std::uint32_t>(q) + kHalf) >> 23;
  return std::clamp(static_cast<int>(biased) - static_cast<int>(kBias), least, most);
}

int least_exponent(int bits) { return kTopExponent + 1 - (1 << (bits - 1)); }

float logarithmic_scale(ScaleFit fit, int bits, const float* x, std::int64_t k, float top) {
  const float exact = top / 128;
  const float largest = rounded_to_bf16(exact);
  if (fit_of(bits, x, k, exact).error == 0) return exact;
  if (fit == ScaleFit::largest) return largest;
  const float fitted = rounded_to_bf16(fitted_scale(bits, x, k, largest));
  const bool worse = fit_of(bits, x, k, largest).error < fit_of(bits, x, k, fitted).error;
  return worse ? largest : fitted;
}

void put_nibble(std::byte* nibbles, std::int64_t i, bool negative, int exponent) {
  const unsigned nibble = (negative ? 8u : 0u) | static_cast<unsigned>(exponent);
  const auto byte = static_cast<unsigned>(nibbles[i / 2]);
  nibbles[i / 2] =
      static_cast<std::byte>(i % 2 == 0 ? (byte & 0xf0u) | nibble : (byte & 0x0fu) | nibble << 4);
}

}  // namespace fuselage
