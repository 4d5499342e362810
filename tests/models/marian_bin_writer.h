#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "fuselage/base/tensor.h"

namespace fuselage::support {

/// An item of a .bin file; `data` is padded to a multiple of 256 bytes when it is written.
struct BinItem {
  std::string name;
  std::uint64_t type = 0x404;
  std::vector<std::int32_t> shape;
  std::string data;
};

template <typename T>
std::string bytes_of(const T& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

/// Zeros up to the next multiple of 256; at least one, as Marian's writer has it.
inline std::string bin_padding(std::size_t size) { return std::string(256 - size % 256, '\0'); }

/// The bytes of a file that holds these items.
inline std::string marian_bin(const std::vector<BinItem>& items, std::uint64_t version = 1) {
  std::string file = bytes_of(version) + bytes_of<std::uint64_t>(items.size());
  std::string names, shapes, data;
  for (const BinItem& item : items) {
    const std::string padded = item.data + bin_padding(item.data.size());
    for (const std::uint64_t number :
         {item.name.size() + 1, item.type, item.shape.size(), padded.size()})
      file += bytes_of(number);
    names += item.name + '\0';
    for (const std::int32_t dim : item.shape) shapes += bytes_of(dim);
    data += padded;
  }
  file += names + shapes;
  const std::string padding = bin_padding(file.size() + sizeof(std::uint64_t));
  return file + bytes_of<std::uint64_t>(padding.size()) + padding + data;
}

inline std::vector<std::int32_t> bin_shape(const Tensor& tensor) {
  return {tensor.shape().begin(), tensor.shape().end()};
}

/// A tensor of f32.
inline BinItem plain_item(const std::string& name, const Tensor& tensor) {
  return {name, 0x404, bin_shape(tensor),
          std::string(reinterpret_cast<const char*>(tensor.bytes()), tensor.size_bytes())};
}

inline BinItem config_item(const std::string& yaml) {
  return {"special:model.yml", 0x101, {static_cast<std::int32_t>(yaml.size())}, yaml};
}

/// How Marian quantizes: one multiplier for a matrix.
struct BinQuantizer {
  std::uint64_t type = 0x10001;
  bool narrow() const { return (type & 0xFF) == 1; }

  float multiplier(const Tensor& tensor) const {
    if (!narrow()) return 1024;
    float largest = 0;
    for (std::int64_t i = 0; i < tensor.size(); ++i)
      largest = std::max(largest, std::fabs(tensor.data<float>()[i]));
    return 127 / largest;
  }
  std::int32_t integer(float x, float multiplier) const {
    const float bound = narrow() ? 127 : 32767;
    return static_cast<std::int32_t>(std::clamp(std::nearbyint(x * multiplier), -bound, bound));
  }
  /// The numbers that the integers stand for.
  Tensor rounded(const Tensor& tensor) const {
    Tensor result(DType::f32, tensor.shape());
    const float m = multiplier(tensor);
    for (std::int64_t i = 0; i < tensor.size(); ++i)
      result.mutable_data<float>()[i] =
          static_cast<float>(integer(tensor.data<float>()[i], m)) * (1 / m);
    return result;
  }
  std::string bytes(std::int32_t q) const {
    return narrow() ? bytes_of(static_cast<std::int8_t>(q))
                    : bytes_of(static_cast<std::int16_t>(q));
  }
};

/// A matrix [K, N], transposed as the type wants it, or packed for registers of `width` integers.
inline BinItem quantized_item(const std::string& name, const Tensor& matrix, std::uint64_t type,
                              std::int64_t width = 0) {
  const BinQuantizer quantizer{type};
  const std::int64_t k = matrix.shape()[0], n = matrix.shape()[1];
  const float m = quantizer.multiplier(matrix);
  std::vector<std::int32_t> integers(static_cast<std::size_t>(k * n));
  for (std::int64_t r = 0; r < k; ++r)
    for (std::int64_t c = 0; c < n; ++c) {
      const std::int64_t at =
          width == 0 ? c * k + r
                     : (c / 8 * (k / width) + r / width) * 8 * width + c % 8 * width + r % width;
      integers[static_cast<std::size_t>(at)] =
          quantizer.integer(matrix.data<float>()[r * n + c], m);
    }
  BinItem item{name, type, bin_shape(matrix), ""};
  for (const std::int32_t q : integers) item.data += quantizer.bytes(q);
  item.data += bytes_of(m);
  return item;
}

/// A table of embeddings as the Firefox fork stores it, row by row.
inline BinItem table_item(const std::string& name, const Tensor& table, std::uint64_t type) {
  const BinQuantizer quantizer{type};
  const float m = quantizer.multiplier(table);
  BinItem item{name, type, bin_shape(table), ""};
  for (std::int64_t i = 0; i < table.size(); ++i)
    item.data += quantizer.bytes(quantizer.integer(table.data<float>()[i], m));
  item.data += bytes_of(m);
  return item;
}

}  // namespace fuselage::support
