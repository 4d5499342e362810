// Position encodings. The functions are explicit polynomials in double, accurate to 10 digits,
// since library functions differ in bits between processors.

#include "backends/cpu/simd/rows/sinusoid.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

namespace fuselage::cpu {
namespace {

// Longer sentences are rare.
constexpr std::size_t kFirst = 256;

double nearest_integer(double x) {
  // Adding this rounds to an integer.
  constexpr double kLarge = 0x1.8p52;
  return (x + kLarge) - kLarge;
}

/// The sum of coefficients times powers of x, the last coefficient times the power 0.
template <std::size_t kSize>
double polynomial(const double (&coefficients)[kSize], double x) {
  double sum = 0;
  for (const double c : coefficients) sum = sum * x + c;
  return sum;
}

/// exp of a number that is not large.
double exp_of(double x) {
  constexpr double kPowers[] = {1.0 / 40320, 1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24,
                                1.0 / 6,     1.0 / 2,    1.0,       1.0};
  const double n = nearest_integer(x * 1.4426950408889634);
  const double r = x - n * 0.6931471805599453;
  return std::ldexp(polynomial(kPowers, r), static_cast<int>(n));
}

struct Angle {
  double sine;
  double cosine;
};

/// For |r| <= pi / 4.
Angle small_angle(double r) {
  constexpr double kSine[] = {1.0 / 362880, -1.0 / 5040, 1.0 / 120, -1.0 / 6, 1.0};
  constexpr double kCosine[] = {-1.0 / 3628800, 1.0 / 40320, -1.0 / 720, 1.0 / 24, -1.0 / 2, 1.0};
  return {polynomial(kSine, r * r) * r, polynomial(kCosine, r * r)};
}

Angle angle_of(double x) {
  // pi / 2 in two parts. Products of the first with integers below 2^31 are exact.
  constexpr double kHigh = 0x1.921fbp+0;
  constexpr double kLow = 3.139164786504813e-07;
  const double quarters = nearest_integer(x * 0.6366197723675814);
  const Angle rest = small_angle((x - quarters * kHigh) - quarters * kLow);
  const auto quadrant = static_cast<std::int64_t>(quarters);
  const double sine = quadrant & 1 ? rest.cosine : rest.sine;
  const double cosine = quadrant & 1 ? rest.sine : rest.cosine;
  return {quadrant & 2 ? -sine : sine, (quadrant + 1) & 2 ? -cosine : cosine};
}

void compute(const std::int32_t* positions, std::size_t rows, std::size_t dim, const RowsOut& out) {
  constexpr float kLogarithm = 9.21034037f;  // of 10000
  const std::size_t n = dim / 2;
  const float inc = n > 1 ? kLogarithm / static_cast<float>(n - 1) : 0.0f;
  for (std::size_t i = 0; i < n; ++i) {
    const auto frequency = static_cast<float>(exp_of(-inc * static_cast<float>(i)));
    for (std::size_t r = 0; r < rows; ++r) {
      // Rounded to float, as in training.
      const float x = static_cast<float>(positions[r]) * frequency;
      const Angle angle = angle_of(x);
      float* to = out.data + r * out.stride;
      to[i] = static_cast<float>(angle.sine);
      to[n + i] = static_cast<float>(angle.cosine);
    }
  }
  if (dim % 2)
    for (std::size_t r = 0; r < rows; ++r) out.data[r * out.stride + dim - 1] = 0.0f;
}

}  // namespace

SinusoidTable::SinusoidTable(std::size_t dim) : dim_(dim), first_(kFirst * dim) {
  std::array<std::int32_t, kFirst> positions;
  std::iota(positions.begin(), positions.end(), 0);
  compute(positions.data(), kFirst, dim, {first_.data(), dim});
}

void SinusoidTable::encode(const std::int32_t* positions, std::size_t rows,
                           const RowsOut& out) const {
  for (std::size_t r = 0; r < rows; ++r) {
    const auto position = static_cast<std::size_t>(positions[r]);
    float* to = out.data + r * out.stride;
    if (position < kFirst)
      std::copy_n(first_.data() + position * dim_, dim_, to);
    else
      compute(positions + r, 1, dim_, {to, out.stride});
  }
}

}  // namespace fuselage::cpu
