#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/base/api.h"
#include "fuselage/base/dtype.h"

namespace FUSELAGE_API fuselage {

class Tensor;

/// How to make a tensor's numbers at their first use.
struct DeferredTensor {
  /// Makes them; runs once, in whatever thread needs them first, and may throw. What it reads must
  /// stay until the tensor and its copies are gone.
  std::function<Tensor()> make;
  /// What they are made from, and the conversion: together they determine the numbers.
  std::string_view stored;
  std::string conversion;
  /// Whether `stored` is mapped from a file, so that its pages are read again after they were given
  /// back. Without a conversion the tensor has these very bytes.
  bool is_mapped = false;
};

/// A dense row-major array in memory. Copies share the bytes, so a Tensor is cheap to copy; fill it
/// before sharing it.
class Tensor {
 public:
  Tensor() = default;

  /// Allocates zeroed storage, aligned to 64 bytes. Throws Error if the size overflows or a
  /// dimension is negative.
  Tensor(DType dtype, std::vector<std::int64_t> shape);

  /// Wraps existing bytes; their number must match shape and type.
  Tensor(DType dtype, std::vector<std::int64_t> shape, std::shared_ptr<std::byte[]> bytes);

  /// A tensor whose bytes `source` makes, in this type and shape, when they are first read. Copies
  /// share what was made.
  Tensor(DType dtype, std::vector<std::int64_t> shape, DeferredTensor source);

  DType dtype() const { return dtype_; }
  const std::vector<std::int64_t>& shape() const { return shape_; }

  /// Number of elements: the product of the dimensions, 1 for a scalar.
  std::int64_t size() const { return size_; }
  std::size_t size_bytes() const;

  const std::byte* bytes() const { return deferred_ ? made_bytes() : data_.get(); }
  std::byte* mutable_bytes() { return deferred_ ? mutable_made_bytes() : data_.get(); }

  /// The source of the bytes; null if they were given, or may have been changed.
  const DeferredTensor* source() const;

  /// The elements as T, which must have the size of the dtype.
  template <typename T>
  const T* data() const {
    return reinterpret_cast<const T*>(bytes());
  }
  template <typename T>
  T* mutable_data() {
    return reinterpret_cast<T*>(mutable_bytes());
  }

  /// The pages of a file that have these bytes; empty if they are in other memory, or may have been
  /// changed.
  std::string_view mapped_bytes() const;

  /// The same bytes with another shape of the same size.
  Tensor reshaped(std::vector<std::int64_t> shape) const;

  /// The same numbers as f32, from any dtype.
  Tensor to_f32() const;

  /// The same numbers rounded to the nearest f16, from any dtype.
  Tensor to_f16() const;

  /// The same numbers rounded to the nearest bf16, from any dtype.
  Tensor to_bf16() const;

 private:
  struct Deferred;

  const std::byte* made_bytes() const;
  std::byte* mutable_made_bytes();

  DType dtype_ = DType::f32;
  std::vector<std::int64_t> shape_;
  std::int64_t size_ = 0;
  std::shared_ptr<std::byte[]> data_;
  std::shared_ptr<Deferred> deferred_;
};

/// Tensors by parameter name.
using TensorMap = std::map<std::string, Tensor>;

/// Conversions of IEEE 754 half precision; rounds to nearest even.
float half_to_float(std::uint16_t half);
std::uint16_t float_to_half(float value);

/// Conversions of bfloat16, the upper half of a float; rounds to nearest even, NaN stays NaN.
float bfloat16_to_float(std::uint16_t upper);
std::uint16_t float_to_bfloat16(float value);

/// The nearest number of bf16 or f16, ties to even; other types leave x as it is.
float rounded_to(DType to, float x);

/// "[256, 512]".
std::string shape_to_string(const std::vector<std::int64_t>& shape);

}  // namespace fuselage
