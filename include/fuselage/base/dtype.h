#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "fuselage/base/api.h"

namespace FUSELAGE_API fuselage {

/// Element type of a value or of a stored tensor. qint8, qint16 and qlog4 are quantized: the
/// integers along the last dimension share a scale (quantized.h).
enum class DType : std::uint8_t {
  f16,
  bf16,
  f32,
  f64,
  i8,
  i16,
  i32,
  i64,
  u8,
  u16,
  u32,
  u64,
  qint8,
  qint16,
  qlog4
};

/// Size of one element in bytes, without scales. A byte of qlog4 holds two elements; for the size
/// of quantized vectors use vector_bytes (quantized.h).
std::size_t size_of(DType dtype);

/// Whether the type is f16 or bf16, which only weights and rounded rows have.
constexpr bool is_half(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16; }

/// "f32", "i8", …
std::string_view to_string(DType dtype);

/// The inverse of to_string; nullopt for an unknown name.
std::optional<DType> dtype_from_string(std::string_view name);

}  // namespace fuselage
