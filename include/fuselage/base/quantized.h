#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "fuselage/base/api.h"
#include "fuselage/base/dtype.h"
#include "fuselage/base/tensor.h"

namespace FUSELAGE_API fuselage {

// Quantized vectors. A vector of k numbers is stored as integers q[i] and one float scale, and
// represents scale * q[i]. In memory the scale comes first, then the integers, then padding to a
// multiple of 4 bytes. The vectors of a tensor, such as the rows of a matrix, are stored one after
// the other. A vector that contains an infinity or a NaN has the scale NaN.
//
// A qlog4 vector packs two integers in a byte (logarithmic.h). It cannot represent zero: a vector
// of zeros has the scale 0, and the padding nibbles, which are 0, must be multiplied by zero.

/// Bounds under which a dot product of two qint16 vectors fits 32 bits: on the integers of one
/// vector, and on the sum of magnitudes of the other.
inline constexpr std::int32_t kLargestOfInt16Rows = 8191;
inline constexpr std::int64_t kLargestSumOfInt16Columns = 262143;
static_assert(kLargestOfInt16Rows * kLargestSumOfInt16Columns < std::int64_t{1} << 31);

/// Number of elements up to which the dot product of such a qint16 vector and a qint8 vector fits
/// 32 bits.
inline constexpr std::int64_t kMaxInt16Int8Products = 2048;
static_assert(kMaxInt16Int8Products * kLargestOfInt16Rows * 128 <= std::int64_t{1} << 31);

/// The minimum scale; its inverse is finite. A vector that would need a smaller scale becomes
/// zeros.
inline constexpr float kLeastScale = 2 * std::numeric_limits<float>::min();

/// How the scale of a logarithmic vector is chosen.
enum class ScaleFit : std::uint8_t {
  largest,  ///< the largest level equals the largest magnitude
  fitted    ///< minimizes the squared error by expectation-maximization, starting there
};

/// Parameters of quantization.
struct Quantizer {
  DType to = DType::qint8;
  /// Maximum magnitude of an integer.
  std::int32_t largest = 127;
  /// Bound on the sum of a vector's magnitudes; 0 for none. A dot product with integers of
  /// magnitude at most m is then at most largest_sum * m in magnitude.
  std::int64_t largest_sum = 0;
  /// The scale of all vectors; 0 if each vector has its own.
  float scale = 0;
  /// Whether qint8 integers are restricted to 0 and ± powers of two; `largest` is then 64.
  bool logarithmic = false;
  /// For qlog4, whose largest integer is 128: the bits of a number, 1 to 4, and the choice of
  /// scales if none is given.
  std::int32_t bits = 4;
  ScaleFit fit = ScaleFit::fitted;

  /// Throws Error unless the integers fit the type, the scale is 0 or has a finite inverse, and the
  /// type supports all settings.
  void verify() const;

  friend bool operator==(const Quantizer&, const Quantizer&) = default;
};

/// Whether the type is qint8, qint16 or qlog4.
bool is_quantized(DType dtype);

/// The type of rows that a matrix of type `matrix` is multiplied with: its own integer type for
/// qint8 and qint16, qint8 for qlog4, f32 for real numbers.
DType row_type_of(DType matrix);

/// Size in bytes of a vector of k elements of any type.
std::size_t vector_bytes(DType dtype, std::int64_t k);

/// The scale for the k numbers at x: the quantizer's scale if given, for qlog4 the scale by the
/// quantizer's fit, otherwise the minimum scale that keeps both bounds.
float quantization_scale(const Quantizer& quantizer, const float* x, std::int64_t k);

/// The same for numbers of maximum magnitude `top`, which is NaN or infinite if one of them is. Not
/// for qlog4 or with a bound on the sum.
float quantization_scale(const Quantizer& quantizer, float top);

/// Quantizes the k numbers at x by `scale`: to the nearest integer, ties to even, within ±largest;
/// logarithmic numbers to the nearest power of two, ties to the larger magnitude. The quotient is
/// computed as x * (1 / scale) in float, so that all implementations agree.
void quantize_vector(const Quantizer& quantizer, const float* x, std::int64_t k, float scale,
                     std::byte* out);

/// Writes the k numbers that a vector represents to x.
void dequantize_vector(DType dtype, const std::byte* in, std::int64_t k, float* x);

/// Quantizes the vectors along the last dimension of a tensor.
Tensor quantized(const Quantizer& quantizer, const Tensor& tensor);

/// Throws Error unless the dot products of n qint16 vectors of k elements with any rows fit 32
/// bits.
void expect_bounded_sums(const std::byte* vectors, std::int64_t n, std::int64_t k);

/// The scale and the integers of a vector.
float scale_of(const std::byte* vector);
std::int32_t quantized_at(DType dtype, const std::byte* vector, std::int64_t i);

}  // namespace fuselage
