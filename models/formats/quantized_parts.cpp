#include "models/formats/quantized_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <limits>
#include <optional>

#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "models/formats/packed_integers.h"
#include "models/formats/packed_logarithms.h"

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

/// Copies the integers of a vector between memory and a file.
using CopyIntegers = std::function<void(const std::byte* from, std::byte* to)>;

CopyIntegers copy_of(std::size_t bytes) {
  return [bytes](const std::byte* from, std::byte* to) { std::memcpy(to, from, bytes); };
}

/// A vector in memory is its scale followed by its integers.
void copy_vectors(const Tensor& quantized, Tensor& integers, Tensor& scales,
                  const CopyIntegers& copy) {
  if (integers.size() == 0) return;
  const std::int64_t k = quantized.shape().back();
  const std::size_t bytes = stride_of(integers);
  const std::byte* vector = quantized.bytes();
  std::byte* to = integers.mutable_bytes();
  for (std::int64_t i = 0; i < scales.size(); ++i, to += bytes) {
    scales.mutable_data<float>()[i] = scale_of(vector);
    copy(vector + sizeof(float), to);
    vector += vector_bytes(quantized.dtype(), k);
  }
}

void fill_vectors(const Tensor& integers, const Tensor& scales, Tensor& quantized,
                  const CopyIntegers& copy) {
  if (integers.size() == 0) return;
  const std::int64_t k = quantized.shape().back();
  const std::size_t bytes = stride_of(integers);
  const Tensor wide = scales.to_f32();
  const std::byte* from = integers.bytes();
  std::byte* vector = quantized.mutable_bytes();
  for (std::int64_t i = 0; i < scales.size(); ++i, from += bytes) {
    std::memcpy(vector, wide.data<float>() + i, sizeof(float));
    copy(from, vector + sizeof(float));
    vector += vector_bytes(quantized.dtype(), k);
  }
}

/// Without a branch, so that compilers vectorize it.
template <typename T>
bool has_least(const std::byte* integers, std::int64_t count) {
  const auto* q = reinterpret_cast<const T*>(integers);
  int found = 0;
  for (std::int64_t i = 0; i < count; ++i) found |= q[i] == std::numeric_limits<T>::min() ? 1 : 0;
  return found != 0;
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

/// Bytes of a vector of k numbers with each number of bits: "128, 96, 64 or 32".
std::string possible_bytes(std::int64_t k) {
  return fmt::format("{}, {}, {} or {}", packed_bytes(k, 4), packed_bytes(k, 3), packed_bytes(k, 2),
                     packed_bytes(k, 1));
}

/// Throws Error if a bit behind the last number of a vector is set.
void expect_zeros_behind_end(const Tensor& packed, std::int64_t k, int bits,
                             const std::string& where) {
  const std::int64_t used = k % 8 * bits % 8;
  if (used == 0) return;
  const std::int64_t stride = packed.shape().back();
  for (std::int64_t i = stride; i <= packed.size(); i += stride)
    if (packed.data<std::uint8_t>()[i - 1] >> used != 0)
      throw Error(fmt::format(
          "{}: behind {} numbers of {} bits the last {} bits of the last byte must be 0", where, k,
          bits, 8 - used));
}

/// Throws Error if a vector without numbers has other bits than 0, which would be lost.
void expect_zeros_without_scale(const QuantizedParts& parts, const std::string& where) {
  const auto& [packed, scales] = parts;
  const Tensor wide = scales.to_f32();
  const std::int64_t stride = packed.shape().back();
  for (std::int64_t i = 0; i < wide.size(); ++i) {
    const float scale = wide.data<float>()[i];
    const std::byte* vector = packed.bytes() + i * stride;
    if (!holds_numbers(scale) &&
        std::any_of(vector, vector + stride, [](std::byte byte) { return byte != std::byte{0}; }))
      throw Error(fmt::format("{}: vector {} has the scale {}, so all of its bits must be 0", where,
                              i, scale));
  }
}

QuantizedParts split_packed(const Tensor& tensor, int bits) {
  const std::int64_t k = tensor.shape().back();
  std::vector<std::int64_t> shape = tensor.shape();
  shape.back() = packed_bytes(k, bits);
  QuantizedParts parts{Tensor(DType::u8, shape), Tensor(DType::f32, without_last(shape))};
  const auto pack = tensor.dtype() == DType::qlog4 ? pack_logarithms : pack_integers;
  copy_vectors(tensor, parts.integers, parts.scales,
               [k, bits, pack](const std::byte* from, std::byte* to) { pack(from, k, bits, to); });
  return parts;
}

QuantizedParts split_integers(const Tensor& tensor) {
  const DType dtype = tensor.dtype() == DType::qint8 ? DType::i8 : DType::i16;
  QuantizedParts parts{Tensor(dtype, tensor.shape()),
                       Tensor(DType::f32, without_last(tensor.shape()))};
  copy_vectors(tensor, parts.integers, parts.scales, copy_of(stride_of(parts.integers)));
  return parts;
}

void fill_logarithms(const QuantizedParts& parts, int bits, Tensor& quantized,
                     const std::string& where) {
  const auto& [packed, scales] = parts;
  if (bits == 4) return fill_vectors(packed, scales, quantized, copy_of(stride_of(packed)));
  expect_zeros_without_scale(parts, where);
  const std::int64_t k = quantized.shape().back();
  fill_vectors(packed, scales, quantized, [k, bits](const std::byte* from, std::byte* to) {
    // The scale is before the integers. Without numbers all nibbles are 0, as a new tensor's.
    if (holds_numbers(scale_of(to - sizeof(float)))) unpack_logarithms(from, k, bits, to);
  });
}

void fill_integers(const QuantizedParts& parts, int bits, Tensor& quantized,
                   const std::string& where) {
  const std::int64_t k = quantized.shape().back();
  const auto least = static_cast<std::byte>(-(1 << (bits - 1)));
  bool has_least = false;
  fill_vectors(parts.integers, parts.scales, quantized, [&](const std::byte* from, std::byte* to) {
    unpack_integers(from, k, bits, to);
    has_least |= std::find(to, to + k, least) != to + k;
  });
  if (has_least)
    throw Error(fmt::format("{}: it holds {}, but integers of {} bits go from {} to {}", where,
                            -(1 << (bits - 1)), bits, 1 - (1 << (bits - 1)),
                            (1 << (bits - 1)) - 1));
}

}  // namespace

QuantizedParts split_quantized(const Tensor& tensor) {
  check(is_quantized(tensor.dtype()) && !tensor.shape().empty(), "only vectors can be split");
  const int bits = file_bits(tensor);
  QuantizedParts parts = bits <= 4 ? split_packed(tensor, bits) : split_integers(tensor);
  parts.scales = shortest(parts.scales);
  return parts;
}

void expect_no_least(DType dtype, const std::byte* integers, std::int64_t count,
                     const std::string& where) {
  const bool narrow = dtype == DType::qint8;
  if (narrow ? has_least<std::int8_t>(integers, count) : has_least<std::int16_t>(integers, count))
    throw Error(fmt::format("{}: it holds {}, but quantized integers go from {} to {}", where,
                            narrow ? -128 : -32768, narrow ? -127 : -32767, narrow ? 127 : 32767));
}

Tensor join_quantized(const QuantizedParts& parts, const std::string& where) {
  const auto& [integers, scales] = parts;
  if (!is_integers(integers) || integers.shape().empty())
    throw Error(fmt::format("{}: it is {} of shape {}; quantized vectors are i8 or i16", where,
                            to_string(integers.dtype()), shape_to_string(integers.shape())));
  expect_scales(parts, where);
  const bool narrow = integers.dtype() == DType::i8;
  expect_no_least(narrow ? DType::qint8 : DType::qint16, integers.bytes(), integers.size(), where);
  Tensor quantized(narrow ? DType::qint8 : DType::qint16, integers.shape());
  fill_vectors(integers, scales, quantized, copy_of(stride_of(integers)));
  return quantized;
}

Tensor join_packed(const QuantizedParts& parts, const PackedVectors& vectors,
                   const std::string& where) {
  const std::int64_t k = vectors.k;
  const auto& [packed, scales] = parts;
  const auto bits = packed.dtype() == DType::u8 && !packed.shape().empty()
                        ? packed_bits(k, packed.shape().back())
                        : std::nullopt;
  if (!bits)
    throw Error(fmt::format(
        "{}: it is {} of shape {}; vectors of {} numbers of 4, 3, 2 or 1 bits are u8 in {} bytes "
        "each",
        where, to_string(packed.dtype()), shape_to_string(packed.shape()), k, possible_bytes(k)));
  expect_scales(parts, where);
  expect_zeros_behind_end(packed, k, *bits, where);
  std::vector<std::int64_t> shape = packed.shape();
  shape.back() = k;
  Tensor quantized(vectors.dtype, shape);
  if (vectors.dtype == DType::qint8)
    fill_integers(parts, *bits, quantized, where);
  else
    fill_logarithms(parts, *bits, quantized, where);
  return quantized;
}

int file_bits(const Tensor& weight) {
  if (weight.dtype() == DType::qlog4) return stored_bits(weight);
  if (weight.dtype() == DType::qint8 && !weight.shape().empty()) return integer_bits(weight);
  return 8 * static_cast<int>(size_of(weight.dtype()));
}

std::size_t file_bytes(const Tensor& weight) {
  if (!is_quantized(weight.dtype())) return weight.size_bytes();
  const QuantizedParts parts = split_quantized(weight);
  return parts.integers.size_bytes() + parts.scales.size_bytes();
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

TensorMap join_quantized_weights(const TensorMap& stored, const PackedWeights& packed,
                                 const std::string& where) {
  TensorMap result = stored;
  for (const auto& [name, tensor] : stored) {
    const auto vectors = packed.find(name);
    const bool is_packed = tensor.dtype() == DType::u8 && vectors != packed.end();
    const auto scales = stored.find(name + kScaleSuffix);
    if (scales == stored.end() || (!is_integers(tensor) && !is_packed)) continue;
    const QuantizedParts parts{tensor, scales->second};
    const std::string weight = fmt::format("{}: weight {}", where, in_quotes(name));
    result[name] =
        is_packed ? join_packed(parts, vectors->second, weight) : join_quantized(parts, weight);
    result.erase(scales->first);
  }
  return result;
}

}  // namespace fuselage
