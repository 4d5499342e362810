#include "models/quantized_parts.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "base/suggest.h"

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

/// A vector in memory is its scale with the integers behind.
void copy_vectors(const Tensor& quantized, Tensor& integers, Tensor& scales) {
  if (integers.size() == 0) return;
  const std::int64_t k = quantized.shape().back();
  const std::size_t bytes = static_cast<std::size_t>(k) * size_of(integers.dtype());
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
  const std::size_t bytes = static_cast<std::size_t>(k) * size_of(integers.dtype());
  const std::byte* from = integers.bytes();
  std::byte* vector = quantized.mutable_bytes();
  for (std::int64_t i = 0; i < scales.size(); ++i, from += bytes) {
    std::memcpy(vector, scales.data<float>() + i, sizeof(float));
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

}  // namespace

QuantizedParts split_quantized(const Tensor& tensor) {
  check(is_quantized(tensor.dtype()) && !tensor.shape().empty(), "only vectors can be split");
  const DType dtype = tensor.dtype() == DType::qint8 ? DType::i8 : DType::i16;
  QuantizedParts parts{Tensor(dtype, tensor.shape()),
                       Tensor(DType::f32, without_last(tensor.shape()))};
  copy_vectors(tensor, parts.integers, parts.scales);
  return parts;
}

Tensor join_quantized(const QuantizedParts& parts, const std::string& where) {
  const auto& [integers, scales] = parts;
  if (!is_integers(integers) || integers.shape().empty())
    throw Error("{}: it is {} of shape {}; quantized vectors are i8 or i16", where,
                to_string(integers.dtype()), shape_to_string(integers.shape()));
  if (scales.dtype() != DType::f32 || scales.shape() != without_last(integers.shape()))
    throw Error("{}: its scales are {} of shape {}, but integers of shape {} need f32 of shape {}",
                where, to_string(scales.dtype()), shape_to_string(scales.shape()),
                shape_to_string(integers.shape()), shape_to_string(without_last(integers.shape())));
  const bool narrow = integers.dtype() == DType::i8;
  if (narrow ? has_least<std::int8_t>(integers) : has_least<std::int16_t>(integers))
    throw Error("{}: it holds {}, but quantized integers go from {} to {}", where,
                narrow ? -128 : -32768, narrow ? -127 : -32767, narrow ? 127 : 32767);
  Tensor quantized(narrow ? DType::qint8 : DType::qint16, integers.shape());
  fill_vectors(integers, scales, quantized);
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
      throw Error("weight {} cannot be stored: the name of its scales, {}, is another weight's",
                  in_quotes(name), in_quotes(scale));
    QuantizedParts parts = split_quantized(tensor);
    result.emplace(name, std::move(parts.integers));
    result.emplace(scale, std::move(parts.scales));
  }
  return result;
}

TensorMap join_quantized_weights(const TensorMap& stored, const std::string& where) {
  TensorMap result = stored;
  for (const auto& [name, tensor] : stored) {
    if (!is_integers(tensor)) continue;
    const auto scales = stored.find(name + kScaleSuffix);
    if (scales == stored.end()) continue;
    result[name] = join_quantized({tensor, scales->second},
                                  fmt::format("{}: weight {}", where, in_quotes(name)));
    result.erase(scales->first);
  }
  return result;
}

}  // namespace fuselage
