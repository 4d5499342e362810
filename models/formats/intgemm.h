#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/base/tensor.h"

namespace fuselage {

/// A type of quantized items in Marian's .bin files: integers q followed by one float multiplier m.
/// The numbers are q / m.
struct IntgemmType {
  std::uint64_t code;
  std::string_view name;
  DType dtype;
  /// Integers per register of the processor that matrices are packed for; 0: not packed.
  std::int64_t register_width = 0;
  /// Tables of embeddings are stored row by row. (Matrices always are stored column by column.)
  bool tables_by_rows = false;
};

/// The type with this code; null if there is none.
const IntgemmType* find_intgemm_type(std::uint64_t code);

/// Bytes of an item of `elements` elements, including the multiplier.
std::uint64_t intgemm_bytes(const IntgemmType& type, std::uint64_t elements);

/// A matrix [K, N] as one quantized vector per column: [N, K]. `data` has at least intgemm_bytes
/// bytes. Throws Error, which begins with `where`, for a shape that cannot be packed and for a
/// multiplier that is not a positive number.
Tensor read_intgemm_columns(const IntgemmType& type, std::int64_t k, std::int64_t n,
                            std::string_view data, const std::string& where);

/// A table that is stored row by row, as one quantized vector per row, in the same shape.
Tensor read_intgemm_rows(const IntgemmType& type, const std::vector<std::int64_t>& shape,
                         std::string_view data, const std::string& where);

}  // namespace fuselage
