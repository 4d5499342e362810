#include "models/formats/quantized_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/suggest.h"
#include "fuselage/base/error.h"

namespace fuselage {
namespace {

constexpr const char* kScaleSuffix = ".scale";

bool is_integers(const Tensor& tensor) {
  return tensor.dtype() == DType::i8 || tensor.dtype() == DType::i16;
}

std::vector<std::int64_t> without_last(std::vector<std::int64_t> shape) {
  shape.pop_back();
  return shape;
}

/// Bytes of a vector's integers.
std::size_t stride_of(const Tensor& integers) {
  return static_cast<std::size_t>(integers.shape().back()) * size_of(integers.dtype());
}

/// A vector in memory is its scale followed by its integers.
void copy_vectors(const Tensor& quantized, Tensor& integers, Tensor& scales) {
  if (integers.size() == 0) return;
  const std::int64_t k = quantized.shape().back();
  const std::size_t bytes = stride_of(integers);
  const std::byte* vector = quantized.bytes();
  std::byte* to = integers.mutable_bytes();
  for (std::int64_t i = 0; i < scales.size(); ++i, to += bytes) {
    scales.mutable_data<float>()[i] = scale_of(vector);
    std::memcpy(to, vector + sizeof(float), bytes);
    vector += vector_bytes(quantized.dtype(), k);
  }
}

void fill_vectors(const Tensor& integers, const Tensor& scales, Tensor& quantized) {
  if (integers.size() == 0) return;
  const std::int64_t k = quantized.shape().back();
  const std::size_t bytes = stride_of(integers);
  const Tensor wide = scales.to_f32();
  const std::byte* from = integers.bytes();
  std::byte* vector = quantized.mutable_bytes();
  for (std::int64_t i = 0; i < scales.size(); ++i, from += bytes) {
    std::memcpy(vector, wide.data<float>() + i, sizeof(float));
    std::memcpy(vector + sizeof(float), from, bytes);
    vector += vector_bytes(quantized.dtype(), k);
  }
}

template <typename T>
bool has_least(const Tensor& integers) {
  const T* begin = integers.data<T>();
  return std::find(begin, begin + integers.size(), std::numeric_limits<T>::min()) !=
         begin + integers.size();
}

void expect_scales(const QuantizedParts& parts, const std::string& where) {
  const auto& [integers, scales] = parts;
  const std::vector<std::int64_t> needed = without_last(integers.shape());
  if ((scales.dtype() == DType::f32 || scales.dtype() == DType::bf16) && scales.shape() == needed)
    return;
  throw Error(fmt::format(
      "{}: its scales are {} of shape {}, but integers of shape {} need f32 or bf16 of shape {}",
      where, to_string(scales.dtype()), shape_to_string(scales.shape()),
      shape_to_string(integers.shape()), shape_to_string(needed)));
}

/// The scales as bf16 if that represents all of them exactly, else unchanged.
Tensor shortest(const Tensor& scales) {
  Tensor narrow = scales.to_bf16();
  const Tensor back = narrow.to_f32();
  const bool same = std::memcmp(back.bytes(), scales.bytes(), scales.size_bytes()) == 0;
  return same ? narrow : scales;
}

DType type_of_integers(DType quantized) {
  if (quantized == DType::qlog4) return DType::u8;
  return quantized == DType::qint8 ? DType::i8 : DType::i16;
}

std::int64_t nibble_bytes(std::int64_t k) { return (k + 1) / 2; }

/// Whether a vector of odd length is padded with a nibble that is not 0.
bool has_nibble_behind_end(const Tensor& nibbles) {
  const std::int64_t stride = nibbles.shape().back();
  for (std::int64_t i = stride; i <= nibbles.size(); i += stride)
    if (nibbles.data<std::uint8_t>()[i - 1] >> 4 != 0) return true;
  return false;
}

}  // namespace

QuantizedParts split_quantized(const Tensor& tensor) {
  check(is_quantized(tensor.dtype()) && !tensor.shape().empty(), "only vectors can be split");
  const DType dtype = type_of_integers(tensor.dtype());
  std::vector<std::int64_t> shape = tensor.shape();
  if (dtype == DType::u8) shape.back() = nibble_bytes(shape.back());
  QuantizedParts parts{Tensor(dtype, shape), Tensor(DType::f32, without_last(shape))};
  copy_vectors(tensor, parts.integers, parts.scales);
  parts.scales = shortest(parts.scales);
  return parts;
}

Tensor join_quantized(const QuantizedParts& parts, const std::string& where) {
  const auto& [integers, scales] = parts;
  if (!is_integers(integers) || integers.shape().empty())
    throw Error(fmt::format("{}: it is {} of shape {}; quantized vectors are i8 or i16", where,
                            to_string(integers.dtype()), shape_to_string(integers.shape())));
  expect_scales(parts, where);
  const bool narrow = integers.dtype() == DType::i8;
  if (narrow ? has_least<std::int8_t>(integers) : has_least<std::int16_t>(integers))
    throw Error(fmt::format("{}: it holds {}, but quantized integers go from {} to {}", where,
                            narrow ? -128 : -32768, narrow ? -127 : -32767, narrow ? 127 : 32767));
  Tensor quantized(narrow ? DType::qint8 : DType::qint16, integers.shape());
  fill_vectors(integers, scales, quantized);
  return quantized;
}

Tensor join_nibbles(const QuantizedParts& parts, std::int64_t k, const std::string& where) {
  const auto& [nibbles, scales] = parts;
  if (nibbles.dtype() != DType::u8 || nibbles.shape().empty() ||
      nibbles.shape().back() != nibble_bytes(k))
    throw Error(fmt::format(
        "{}: it is {} of shape {}; vectors of {} numbers of 4 bits are u8 in {} bytes each", where,
        to_string(nibbles.dtype()), shape_to_string(nibbles.shape()), k, nibble_bytes(k)));
  expect_scales(parts, where);
  if (k % 2 != 0 && has_nibble_behind_end(nibbles))
    throw Error(
        fmt::format("{}: behind {} numbers of 4 bits the last half of a byte must be 0", where, k));
  std::vector<std::int64_t> shape = nibbles.shape();
  shape.back() = k;
  Tensor quantized(DType::qlog4, shape);
  fill_vectors(nibbles, scales, quantized);
  return quantized;
}

TensorMap split_quantized_weights(const TensorMap& weights) {
  TensorMap result;
  for (const auto& [name, tensor] : weights) {
    if (!is_quantized(tensor.dtype())) {
      result.emplace(name, tensor);
      continue;
    }
    const std::string scale = name + kScaleSuffix;
    if (weights.count(scale) != 0)
      throw Error(
          fmt::format("weight {} cannot be stored: the name of its scales, {}, is another weight's",
                      in_quotes(name), in_quotes(scale)));
    QuantizedParts parts = split_quantized(tensor);
    result.emplace(name, std::move(parts.integers));
    result.emplace(scale, std::move(parts.scales));
  }
  return result;
}

TensorMap join_quantized_weights(const TensorMap& stored, const VectorLengths& nibbles,
                                 const std::string& where) {
  TensorMap result = stored;
  for (const auto& [name, tensor] : stored) {
    const auto length = nibbles.find(name);
    const bool is_nibbles = tensor.dtype() == DType::u8 && length != nibbles.end();
    const auto scales = stored.find(name + kScaleSuffix);
    if (scales == stored.end() || (!is_integers(tensor) && !is_nibbles)) continue;
    const QuantizedParts parts{tensor, scales->second};
    const std::string weight = fmt::format("{}: weight {}", where, in_quotes(name));
    result[name] =
        is_nibbles ? join_nibbles(parts, length->second, weight) : join_quantized(parts, weight);
    result.erase(scales->first);
  }
  return result;
}

}  // namespace fuselage
