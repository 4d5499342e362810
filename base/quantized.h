#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "base/dtype.h"
#include "base/logarithmic.h"
#include "base/tensor.h"

namespace fuselage {

// Quantized vectors. A vector of k numbers is stored as the integers q[i] with one float scale, and
// stands for scale * q[i]. In memory the scale comes first, then the integers, then padding to a
// multiple of 4 bytes. What has several vectors, as a matrix has its rows, stores them one after
// the other. A vector with an infinity or a NaN in it has the scale NaN.
//
// A qlog4 vector has two integers a byte (logarithmic.h). It knows no zero: a vector of zeros alone
// has the scale 0, and what is beyond the end of a vector, where the nibbles are 0, must be
// multiplied by zero.

/// Bounds within which a dot product of qint16 vectors fits 32 bits: on the integers of one, and on
/// the sum of the magnitudes of the other.
inline constexpr std::int32_t kLargestOfInt16Rows = 8191;
inline constexpr std::int64_t kLargestSumOfInt16Columns = 262143;
static_assert(kLargestOfInt16Rows * kLargestSumOfInt16Columns < std::int64_t{1} << 31);

/// The least scale: its inverse must be a number. Vectors that would need a smaller one are zeros.
inline constexpr float kLeastScale = 2 * std::numeric_limits<float>::min();

/// How numbers become integers.
struct Quantizer {
  DType to = DType::qint8;
  /// Largest magnitude of an integer.
  std::int32_t largest = 127;
  /// Bound on the sum of a vector's magnitudes, 0 for none: a dot product with integers of at most
  /// m in magnitude then stays within largest_sum * m.
  std::int64_t largest_sum = 0;
  /// The scale of all vectors, 0 where each has its own.
  float scale = 0;
  /// Whether qint8 integers are 0 and ± powers of two alone; largest is then 64.
  bool logarithmic = false;
  /// Of qlog4, whose largest integer is 128: how many bits a number has, 1 to 4, and how scales are
  /// found where none is given.
  std::int32_t bits = 4;
  ScaleFit fit = ScaleFit::fitted;

  /// Throws Error unless the integers fit the type, the scale is 0 or can be inverted, and nothing
  /// is asked for that the type does not have.
  void verify() const;

  friend bool operator==(const Quantizer&, const Quantizer&) = default;
};

/// Whether values of the type are quantized vectors.
bool is_quantized(DType dtype);

/// The type of the rows that are multiplied with a matrix of type `matrix`: integers by integers,
/// of which logarithmic ones take bytes, and floats by real numbers.
DType row_type_of(DType matrix);

/// Bytes that a vector of k elements takes, of a quantized or any other type.
std::size_t vector_bytes(DType dtype, std::int64_t k);

/// The scale for the k numbers at x, unless it is given: the least that keeps both bounds, or for
/// qlog4 the one that the quantizer's fit finds.
float quantization_scale(const Quantizer& quantizer, const float* x, std::int64_t k);

/// The same, without a bound on the sum and not for qlog4, for numbers whose largest magnitude is
/// `top`; NaN or infinity if they hold one.
float quantization_scale(const Quantizer& quantizer, float top);

/// Quantizes the k numbers at x by `scale`: to the nearest integer, ties to even, within ±largest;
/// or to the nearest that there is, ties to the larger magnitude, where they are powers of two.
/// Each is x * (1 / scale) in float, so that all implementations agree.
void quantize_vector(const Quantizer& quantizer, const float* x, std::int64_t k, float scale,
                     std::byte* out);

/// The numbers that a vector stands for.
void dequantize_vector(DType dtype, const std::byte* in, std::int64_t k, float* x);

/// A tensor's vectors, along its last dimension, each by its own scale.
Tensor quantized(const Quantizer& quantizer, const Tensor& tensor);

/// Throws Error unless the products of n qint16 vectors of k elements with any rows fit 32 bits.
void expect_bounded_sums(const std::byte* vectors, std::int64_t n, std::int64_t k);

/// A vector's scale and its integers.
float scale_of(const std::byte* vector);
std::int32_t quantized_at(DType dtype, const std::byte* vector, std::int64_t i);

}  // namespace fuselage
