#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "tests/cuda/gemm_support.h"

namespace fuselage::cuda {

/// The quantizers of a matrix of integers and of its rows.
inline Quantizer matrix_quantizer(DType integers) {
  if (integers == DType::i8) return {};
  return {.to = DType::qint16, .largest = 32767, .largest_sum = kLargestSumOfInt16Columns};
}
inline Quantizer row_quantizer(DType integers) {
  if (integers == DType::i8) return {};
  return {.to = DType::qint16, .largest = kLargestOfInt16Rows};
}

/// A matrix [k, n] of random numbers, on the host and as a DeviceMatrix.
class TestMatrix {
 public:
  TestMatrix(DType dtype, std::int64_t k, std::int64_t n, unsigned seed)
      : dtype_(dtype), k_(k), n_(n) {
    const std::vector<float> numbers = random_floats(static_cast<std::size_t>(k * n), seed);
    if (is_integer())
      vectors_ = quantized_rows(matrix_quantizer(dtype), static_cast<std::size_t>(n), k, seed);
    std::vector<std::byte> bytes(static_cast<std::size_t>(columns() * stride()) * size_of(dtype));
    std::vector<float> scales;
    for (std::int64_t c = 0; c < n; ++c) {
      std::byte* column = bytes.data() + static_cast<std::size_t>(c * stride()) * size_of(dtype);
      if (is_integer()) {
        std::memcpy(column, vector(c) + sizeof(float),
                    static_cast<std::size_t>(k) * size_of(dtype));
        scales.push_back(scale_of(vector(c)));
      } else {
        for (std::int64_t i = 0; i < k; ++i)
          put(numbers[static_cast<std::size_t>(c * k + i)], column, i);
      }
    }
    host_ = bytes;
    data_.emplace(bytes);
    if (is_integer()) scales_.emplace(scales);
  }

  std::shared_ptr<const DeviceMatrix> device() const {
    return std::make_shared<DeviceMatrix>(
        DeviceMatrix{data_->data(), dtype_, k_, n_, stride(), scales_ ? scales_->data() : nullptr});
  }

  std::int64_t k() const { return k_; }
  std::int64_t n() const { return n_; }

  /// The number in row i and column c; integers without their scale.
  float at(std::int64_t i, std::int64_t c) const {
    const std::byte* from =
        host_.data() + static_cast<std::size_t>(c * stride() + i) * size_of(dtype_);
    if (dtype_ == DType::f32) return load<float>(from);
    if (dtype_ == DType::bf16) return bfloat16_to_float(load<std::uint16_t>(from));
    if (dtype_ == DType::f16) return half_to_float(load<std::uint16_t>(from));
    if (dtype_ == DType::i8) return load<std::int8_t>(from);
    return load<std::int16_t>(from);
  }
  float scale(std::int64_t c) const { return is_integer() ? scale_of(vector(c)) : 1; }

  /// For integers: the columns as contiguous quantized vectors.
  const std::byte* vectors() const { return vector(0); }

  /// A number, rounded to the type of the matrix's rows.
  float rounded(float x) const {
    if (dtype_ == DType::bf16) return bfloat16_to_float(float_to_bfloat16(x));
    if (dtype_ == DType::f16) return half_to_float(float_to_half(x));
    return x;
  }

 private:
  bool is_integer() const { return dtype_ == DType::i8 || dtype_ == DType::i16; }
  std::int64_t stride() const { return (k_ + 15) / 16 * 16; }
  std::int64_t columns() const { return (n_ + 15) / 16 * 16; }
  const std::byte* vector(std::int64_t c) const {
    return reinterpret_cast<const std::byte*>(vectors_.data()) +
           static_cast<std::size_t>(c) * vector_bytes(matrix_quantizer(dtype_).to, k_);
  }

  template <typename T>
  static T load(const std::byte* from) {
    T number;
    std::memcpy(&number, from, sizeof number);
    return number;
  }

  void put(float number, std::byte* column, std::int64_t i) const {
    if (dtype_ == DType::f32) {
      std::memcpy(column + static_cast<std::size_t>(i) * sizeof number, &number, sizeof number);
      return;
    }
    const std::uint16_t bits =
        dtype_ == DType::bf16 ? float_to_bfloat16(number) : float_to_half(number);
    std::memcpy(column + static_cast<std::size_t>(i) * sizeof bits, &bits, sizeof bits);
  }

  DType dtype_;
  std::int64_t k_, n_;
  std::vector<float> vectors_;
  std::vector<std::byte> host_;
  std::optional<DeviceArray<std::byte>> data_;
  std::optional<DeviceArray<float>> scales_;
};

/// The products of a quantized vector with the columns of a matrix of integers, with the bits of
/// all back-ends.
inline std::vector<float> integer_products_of(const float* row, const TestMatrix& matrix,
                                              DType integers) {
  const auto* vector = reinterpret_cast<const std::byte*>(row);
  std::vector<float> products;
  for (std::int64_t c = 0; c < matrix.n(); ++c) {
    std::int64_t sum = 0;
    for (std::int64_t i = 0; i < matrix.k(); ++i)
      sum += static_cast<std::int64_t>(quantized_at(row_quantizer(integers).to, vector, i)) *
             static_cast<std::int64_t>(matrix.at(i, c));
    EXPECT_EQ(sum, static_cast<std::int32_t>(sum)) << "the test's sum does not fit";
    products.push_back(static_cast<float>(sum) * matrix.scale(c) * scale_of(vector));
  }
  return products;
}

}  // namespace fuselage::cuda
