#include "models/quantized/fitted_scale.h"

#include <algorithm>
#include <cmath>

#include "fuselage/base/tensor.h"

namespace fuselage {
namespace {

constexpr int kShares = 11;
constexpr float kShareStep = 0.05F;
constexpr int kMaxRounds = 20;

/// The nearest integers for a scale: their squared error, and the scale that has the least one for
/// these integers.
struct Rounding {
  double squared_error = 0;
  float best_scale = 0;
};

Rounding rounded(std::int32_t largest, const float* x, std::int64_t k, float scale) {
  const float inverse = 1 / scale;
  const auto bound = static_cast<float>(largest);
  double product = 0, square = 0, error = 0;
  for (std::int64_t i = 0; i < k; ++i) {
    const double q = std::clamp(std::nearbyint(x[i] * inverse), -bound, bound);
    const double difference = x[i] - scale * q;
    product += x[i] * q;
    square += q * q;
    error += difference * difference;
  }
  return {error, square > 0 ? static_cast<float>(product / square) : scale};
}

float in_bfloat16(float x) { return bfloat16_to_float(float_to_bfloat16(x)); }

}  // namespace

float fitted_scale(const Quantizer& quantizer, const float* x, std::int64_t k) {
  const std::int32_t largest = quantizer.largest;
  const float top = quantization_scale(quantizer, x, k);
  if (!(top > 0)) return top;
  const Rounding at_top = rounded(largest, x, k, top);
  float scale = top;
  Rounding best = at_top;
  for (int i = 1; i <= kShares; ++i) {
    const float share = top * (1 - kShareStep * static_cast<float>(i));
    if (share < kLeastScale) break;
    const Rounding rounding = rounded(largest, x, k, share);
    if (rounding.squared_error < best.squared_error) {
      best = rounding;
      scale = share;
    }
  }
  for (int round = 0; round < kMaxRounds && best.best_scale != scale; ++round) {
    if (best.best_scale < kLeastScale) break;
    scale = best.best_scale;
    best = rounded(largest, x, k, scale);
  }
  if (at_top.squared_error == 0) return top;
  const float narrow = in_bfloat16(scale), narrow_top = in_bfloat16(top);
  return rounded(largest, x, k, narrow).squared_error <
                 rounded(largest, x, k, narrow_top).squared_error
             ? narrow
             : narrow_top;
}

}  // namespace fuselage
