#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace fuselage {

/// Element type of a value or of a stored tensor. qint8, qint16 and qlog4 are quantized: integers
/// that share a scale along the last dimension (quantized.h).
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

/// Size of one element in bytes, without scales. A byte of qlog4 holds two elements: ask
/// vector_bytes (quantized.h) for what quantized vectors take.
std::size_t size_of(DType dtype);

/// Whether it is f16 or bf16, of which only weights are.
constexpr bool is_half(DType dtype) { return dtype == DType::f16 || dtype == DType::bf16; }

/// "f32", "i8", …
std::string_view to_string(DType dtype);

/// The inverse of to_string; nothing for an unknown name.
std::optional<DType> dtype_from_string(std::string_view name);

}  // namespace fuselage
