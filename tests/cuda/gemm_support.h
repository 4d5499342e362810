#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <vector>

#include "backends/cuda/device/gemm/device_weights.h"
#include "backends/cuda/device/runtime/rows.h"
#include "fuselage/base/quantized.h"
#include "fuselage/base/tensor.h"
#include "tests/cuda/device_array.h"

namespace fuselage::cuda {

inline constexpr float kUntouched = -12345.5f;

inline std::vector<float> random_floats(std::size_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal;
  std::vector<float> numbers(count);
  for (float& x : numbers) x = normal(engine);
  return numbers;
}

/// Quantized vectors of random numbers, contiguous, as elements of 4 bytes.
inline std::vector<float> quantized_rows(const Quantizer& quantizer, std::size_t count,
                                         std::int64_t k, unsigned seed) {
  const std::size_t bytes = vector_bytes(quantizer.to, k);
  std::vector<float> rows(count * bytes / sizeof(float));
  const auto length = static_cast<std::size_t>(k);
  const std::vector<float> numbers = random_floats(count * length, seed);
  for (std::size_t r = 0; r < count; ++r) {
    const float* x = numbers.data() + r * length;
    quantize_vector(quantizer, x, k, quantization_scale(quantizer, x, k),
                    reinterpret_cast<std::byte*>(rows.data()) + r * bytes);
  }
  return rows;
}

/// The number of live rows in device memory, and its bound.
class LiveRows {
 public:
  LiveRows(std::int32_t live, std::int32_t max_live)
      : live_(std::vector{live}), max_live_(max_live) {}
  Rows rows() const { return {live_.data(), max_live_}; }

 private:
  DeviceArray<std::int32_t> live_;
  std::int32_t max_live_;
};

/// An operand of rows with `columns` elements, `stride` apart, in all forms of RowsOf.
class Operand {
 public:
  Operand(std::vector<float> data, std::int64_t columns, std::int64_t stride)
      : data_(std::move(data)), columns_(columns), stride_(stride), device_(data_) {}
  Operand(std::vector<float> data, std::int64_t columns)
      : Operand(std::move(data), columns, columns) {}

  Operand& through(std::vector<std::int32_t> index) {
    index_ = std::move(index);
    device_index_.emplace(index_);
    return *this;
  }
  Operand& with_fallback(std::vector<float> fallback) {
    fallback_ = std::move(fallback);
    device_fallback_.emplace(fallback_);
    return *this;
  }
  Operand& from(std::int32_t first) {
    first_ = first;
    device_first_.emplace(std::vector{first});
    return *this;
  }

  RowsIn rows() const {
    return {.data = device_.data(),
            .stride = stride_,
            .index = device_index_ ? device_index_->data() : nullptr,
            .fallback = device_fallback_ ? device_fallback_->data() : nullptr,
            .first = device_first_ ? device_first_->data() : nullptr,
            .columns = static_cast<std::int32_t>(columns_)};
  }

  /// The row r that a kernel should read; zeros if it has none.
  std::vector<float> row(std::int64_t r) const {
    std::vector<float> zeros(static_cast<std::size_t>(columns_));
    r += first_;
    if (!index_.empty()) r = index_.at(static_cast<std::size_t>(r));
    if (r < 0) return fallback_.empty() ? zeros : fallback_;
    const auto begin = data_.begin() + r * stride_;
    return {begin, begin + columns_};
  }

 private:
  std::vector<float> data_;
  std::int64_t columns_, stride_;
  std::int32_t first_ = 0;
  std::vector<std::int32_t> index_;
  std::vector<float> fallback_;
  DeviceArray<float> device_;
  std::optional<DeviceArray<std::int32_t>> device_index_, device_first_;
  std::optional<DeviceArray<float>> device_fallback_;
};

/// A result of rows with `columns` numbers, `stride` apart, after `first` other rows.
class Result {
 public:
  Result(std::int64_t rows, std::int64_t columns, std::int64_t stride, std::int32_t first = 0)
      : columns_(columns),
        stride_(stride),
        first_(first),
        device_(static_cast<std::size_t>((rows + first) * stride), kUntouched),
        device_first_(std::vector{first}) {}
  Result(std::int64_t rows, std::int64_t columns) : Result(rows, columns, columns) {}

  RowsOut rows() { return {device_.data(), stride_, first_ > 0 ? device_first_.data() : nullptr}; }

  /// Copies the result to the host, for the functions below.
  void fetch() { host_ = device_.to_host(); }
  std::vector<float> row(std::int64_t r) const {
    const auto begin = host_.begin() + (first_ + r) * stride_;
    return {begin, begin + columns_};
  }
  /// Whether the rows before the first one and the padding of rows are unwritten.
  bool others_untouched() const {
    for (std::size_t i = 0; i < host_.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i);
      const bool inside = at / stride_ >= first_ && at % stride_ < columns_;
      if (!inside && host_[i] != kUntouched) return false;
    }
    return true;
  }
  bool is_untouched(std::int64_t r) const {
    const std::vector<float> numbers = row(r);
    return std::all_of(numbers.begin(), numbers.end(),
                       [](float number) { return number == kUntouched; });
  }

 private:
  std::int64_t columns_, stride_;
  std::int32_t first_;
  DeviceArray<float> device_;
  DeviceArray<std::int32_t> device_first_;
  std::vector<float> host_;
};

/// Equal bits, so that NaN equals itself and 0 differs from -0.
inline bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() &&
         (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

}  // namespace fuselage::cuda
