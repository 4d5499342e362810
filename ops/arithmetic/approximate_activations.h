#pragma once

#include <array>
#include <cmath>
#include <cstddef>

namespace fuselage {

// Logistic function and hyperbolic tangent at reduced accuracy. Kernels compute the same operations
// in the same order from the same constants, so their results are bitwise equal. The functions are
// odd about their midpoint, reach their limits exactly, map NaN to NaN, and are monotone except for
// rounding and the steps between the lines of the table: 4e-5 in sigmoid, 8e-5 in tanh. tanh is 2
// sigmoid(2 x) - 1 throughout.

/// tanh(x) = x P(x^2) / Q(x^2), minimax on [-limit, limit]; exactly 1 at the limit.
struct FastTanh {
  static constexpr float kLimit = 5.24136066f;
  static constexpr std::array<float, 3> kNumerator = {0.000631662551f, 0.100903086f, 0.999755561f};
  static constexpr std::array<float, 3> kDenominator = {0.0123987403f, 0.433548719f, 1.0f};
};

/// sigmoid(x) - 1/2 for x >= 0, approximated by the minimax line in each of 32 intervals. Interval
/// i holds the x nearest to i * kStep; the first line passes through 0, the last line is 1/2. x is
/// clamped to kLimit. A table of 32 entries for the symmetric half follows the report of Bergamot
/// (D5.1, section 5), which uses the entries without interpolation; lines reduce the error from
/// 3e-2 to 5e-4.
struct SigmoidTable {
  static constexpr std::size_t kEntries = 32;
  static constexpr float kStep = 0.25f;
  static constexpr float kLimit = (kEntries - 1) * kStep;
  alignas(64) static constexpr std::array<float, kEntries> kOffsets = {
      0.0f,          0.000600768486f, 0.0048587746f, 0.0155839305f,
      0.0341844819f, 0.0605664179f,   0.0934242681f, 0.130740687f,
      0.170295686f,  0.210053965f,    0.248385981f,  0.284142256f,
      0.316627115f,  0.345520437f,    0.370782375f,  0.39256385f,
      0.411131859f,  0.426813096f,    0.43995437f,   0.450896382f,
      0.459958047f,  0.467428356f,    0.473562807f,  0.478583485f,
      0.482680738f,  0.486015916f,    0.488724768f,  0.490920573f,
      0.492697328f,  0.494132757f,    0.495290756f,  0.5f};
  alignas(64) static constexpr std::array<float, kEntries> kSlopes = {
      0.249674991f,    0.245828912f,    0.234753057f,    0.217720658f,
      0.196519837f,    0.173087165f,    0.149187043f,    0.126208887f,
      0.105094582f,    0.086366199f,    0.0702094138f,   0.0565734468f,
      0.0452624075f,   0.0360069983f,   0.0285144839f,   0.0225000158f,
      0.0177038461f,   0.0138989631f,   0.0108926976f,   0.00852494128f,
      0.00666468963f,  0.00520598656f,  0.00406387821f,  0.00317070237f,
      0.00247284211f,  0.00192797615f,  0.00150280003f,  0.0011711655f,
      0.000912580406f, 0.000711007102f, 0.000553908118f, 0.0f};
};

/// tanh, to within 5.7e-5.
template <typename T>
T tanh_fast(T x) {
  constexpr T kLimit = FastTanh::kLimit;
  x = x > kLimit ? kLimit : x;
  x = x < -kLimit ? -kLimit : x;
  const T z = x * x;
  const auto polynomial = [z](const std::array<float, 3>& c) {
    return (static_cast<T>(c[0]) * z + static_cast<T>(c[1])) * z + static_cast<T>(c[2]);
  };
  return x * polynomial(FastTanh::kNumerator) / polynomial(FastTanh::kDenominator);
}

/// sigmoid, to within 2.9e-5.
template <typename T>
T sigmoid_fast(T x) {
  return tanh_fast(x * T(0.5)) * T(0.5) + T(0.5);
}

/// sigmoid(x) - 1/2, to within 4.9e-4.
template <typename T>
T centered_sigmoid_table(T x) {
  if (std::isnan(x)) return x;
  constexpr T kLimit = SigmoidTable::kLimit;
  const T magnitude = std::abs(x) > kLimit ? kLimit : std::abs(x);
  const auto i = static_cast<std::size_t>(std::nearbyint(magnitude / T(SigmoidTable::kStep)));
  const T y = static_cast<T>(SigmoidTable::kSlopes[i]) * magnitude +
              static_cast<T>(SigmoidTable::kOffsets[i]);
  return std::copysign(y, x);
}

/// sigmoid, to within 4.9e-4.
template <typename T>
T sigmoid_table(T x) {
  return centered_sigmoid_table(x) + T(0.5);
}

/// tanh, to within 9.8e-4.
template <typename T>
T tanh_table(T x) {
  return centered_sigmoid_table(x + x) * T(2);
}

}  // namespace fuselage
