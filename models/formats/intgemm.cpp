#include "models/formats/intgemm.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "fuselage/base/error.h"
#include "models/formats/quantized_parts.h"

namespace fuselage {
namespace {

/// Interleaved columns of a packed matrix.
constexpr std::int64_t kPackedColumns = 8;

constexpr std::array<IntgemmType, 11> kIntgemmTypes{{
    {0x4101, "intgemm8", DType::qint8, 0, true},
    {0x4102, "intgemm16", DType::qint16, 0, true},
    {0x10001, "intgemm8", DType::qint8},
    {0x10002, "intgemm16", DType::qint16},
    {0x18001, "intgemm8ssse3", DType::qint8, 16},
    {0x11001, "intgemm8avx2", DType::qint8, 32},
    {0x12001, "intgemm8avx512", DType::qint8, 64},
    {0x13001, "intgemm8avx512vnni", DType::qint8, 64},
    {0x14002, "intgemm16sse2", DType::qint16, 8},
    {0x11002, "intgemm16avx2", DType::qint16, 16},
    {0x12002, "intgemm16avx512", DType::qint16, 32},
}};

/// The scale of all vectors of a tensor.
float read_scale(const IntgemmData& data, std::uint64_t elements) {
  float multiplier = 0;
  std::memcpy(&multiplier, data.bytes.data() + elements * size_of(data.type.dtype),
              sizeof multiplier);
  const float scale = 1 / multiplier;
  if (!(multiplier > 0) || !std::isnormal(multiplier) || !std::isnormal(scale))
    throw Error(fmt::format("{}: the multiplier of {} is {}, which cannot be divided by",
                            data.where, data.type.name, multiplier));
  return scale;
}

/// Copies the k integers of vector `v`. Packed vectors lie in groups of kPackedColumns, and in a
/// group, for each vector in turn, as many consecutive integers as a register holds.
void copy_vector(const IntgemmData& data, bool packed, std::int64_t v, std::int64_t k,
                 std::byte* to) {
  const std::size_t size = size_of(data.type.dtype);
  const std::int64_t width = packed ? data.type.register_width : k;
  const std::int64_t together = packed ? kPackedColumns : 1;
  const std::size_t run = static_cast<std::size_t>(width) * size;
  const char* from = data.bytes.data() +
                     static_cast<std::size_t>(v / together * k * together) * size +
                     static_cast<std::size_t>(v % together) * run;
  for (std::int64_t i = 0; i < k; i += width, to += run) {
    std::memcpy(to, from, run);
    from += static_cast<std::size_t>(together) * run;
  }
}

Tensor make_vectors(const IntgemmData& data, bool packed, const std::vector<std::int64_t>& shape,
                    float scale) {
  Tensor vectors(data.type.dtype, shape);
  const std::int64_t k = shape.back();
  const std::int64_t count = vectors.size() / k;
  std::byte* to = vectors.mutable_bytes();
  for (std::int64_t v = 0; v < count; ++v, to += vector_bytes(data.type.dtype, k)) {
    std::memcpy(to, &scale, sizeof scale);
    std::byte* const integers = to + sizeof scale;
    copy_vector(data, packed, v, k, integers);
    expect_no_least(data.type.dtype, integers, k, data.where);
  }
  return vectors;
}

Tensor read_vectors(const IntgemmData& data, bool packed, const std::vector<std::int64_t>& shape) {
  std::uint64_t elements = 1;
  for (const std::int64_t dim : shape) elements *= static_cast<std::uint64_t>(dim);
  const float scale = read_scale(data, elements);
  if (!data.owner) return make_vectors(data, packed, shape, scale);
  return {
      data.type.dtype, shape,
      DeferredTensor{.make = [=] { return make_vectors(data, packed, shape, scale); },
                     .stored = data.bytes.substr(0, intgemm_bytes(data.type, elements)),
                     .conversion = fmt::format("{} {}{}", data.type.name, shape_to_string(shape),
                                               packed ? " packed" : "")}};
}

}  // namespace

const IntgemmType* find_intgemm_type(std::uint64_t code) {
  const auto* const found =
      std::find_if(kIntgemmTypes.begin(), kIntgemmTypes.end(),
                   [code](const IntgemmType& type) { return type.code == code; });
  return found == kIntgemmTypes.end() ? nullptr : found;
}

std::uint64_t intgemm_bytes(const IntgemmType& type, std::uint64_t elements) {
  return elements * size_of(type.dtype) + sizeof(float);
}

Tensor read_intgemm_columns(const IntgemmData& data, std::int64_t k, std::int64_t n) {
  const IntgemmType& type = data.type;
  if (type.register_width == 0) return read_vectors(data, false, {n, k});
  if (k % type.register_width != 0 || n % kPackedColumns != 0)
    throw Error(fmt::format("{}: {} packs multiples of {} by {} elements, not {} by {}", data.where,
                            type.name, type.register_width, kPackedColumns, k, n));
  return read_vectors(data, true, {n, k});
}

Tensor read_intgemm_rows(const IntgemmData& data, const std::vector<std::int64_t>& shape) {
  return read_vectors(data, false, shape);
}

}  // namespace fuselage
