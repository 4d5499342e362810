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

constexpr std::array<IntgemmType, 11> kTypes{{
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

DType integers_of(const IntgemmType& type) {
  return type.dtype == DType::qint8 ? DType::i8 : DType::i16;
}

/// The scales of the vectors, all equal.
Tensor read_scales(const IntgemmType& type, const Tensor& integers, std::string_view data,
                   const std::string& where) {
  float multiplier = 0;
  std::memcpy(&multiplier, data.data() + integers.size_bytes(), sizeof multiplier);
  const float scale = 1 / multiplier;
  if (!(multiplier > 0) || !std::isnormal(multiplier) || !std::isnormal(scale))
    throw Error(fmt::format("{}: the multiplier of {} is {}, which cannot be divided by", where,
                            type.name, multiplier));
  std::vector<std::int64_t> shape = integers.shape();
  shape.pop_back();
  Tensor scales(DType::f32, shape);
  std::fill_n(scales.mutable_data<float>(), scales.size(), scale);
  return scales;
}

/// Inverts the packing: columns in groups of kPackedColumns, and within a group, for each column in
/// turn, as many consecutive elements as a register holds.
void unpack(const IntgemmType& type, std::string_view data, Tensor& columns) {
  const std::int64_t width = type.register_width;
  const std::int64_t n = columns.shape()[0];
  const std::int64_t k = columns.shape()[1];
  const auto bytes = static_cast<std::size_t>(width) * size_of(columns.dtype());
  std::byte* to = columns.mutable_bytes();
  for (std::int64_t column = 0; column < n; ++column)
    for (std::int64_t i = 0; i < k; i += width, to += bytes) {
      const std::int64_t block = column / kPackedColumns * (k / width) + i / width;
      const std::int64_t run = block * kPackedColumns + column % kPackedColumns;
      std::memcpy(to, data.data() + static_cast<std::size_t>(run) * bytes, bytes);
    }
}

}  // namespace

const IntgemmType* find_intgemm_type(std::uint64_t code) {
  const auto* const found = std::find_if(
      kTypes.begin(), kTypes.end(), [code](const IntgemmType& type) { return type.code == code; });
  return found == kTypes.end() ? nullptr : found;
}

std::uint64_t intgemm_bytes(const IntgemmType& type, std::uint64_t elements) {
  return elements * size_of(type.dtype) + sizeof(float);
}

Tensor read_intgemm_columns(const IntgemmType& type, std::int64_t k, std::int64_t n,
                            std::string_view data, const std::string& where) {
  if (type.register_width == 0) return read_intgemm_rows(type, {n, k}, data, where);
  if (k % type.register_width != 0 || n % kPackedColumns != 0)
    throw Error(fmt::format("{}: {} packs multiples of {} by {} elements, not {} by {}", where,
                            type.name, type.register_width, kPackedColumns, k, n));
  Tensor columns(integers_of(type), {n, k});
  unpack(type, data, columns);
  return join_quantized({columns, read_scales(type, columns, data, where)}, where);
}

Tensor read_intgemm_rows(const IntgemmType& type, const std::vector<std::int64_t>& shape,
                         std::string_view data, const std::string& where) {
  Tensor rows(integers_of(type), shape);
  std::memcpy(rows.mutable_bytes(), data.data(), rows.size_bytes());
  return join_quantized({rows, read_scales(type, rows, data, where)}, where);
}

}  // namespace fuselage
