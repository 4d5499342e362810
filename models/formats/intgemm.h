#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/tensor.h"

namespace fuselage {

/// A type of quantized items in Marian's .bin files: integers, and behind the last one a float
/// multiplier m for all of them; they stand for q / m.
struct IntgemmType {
  std::uint64_t code;
  std::string_view name;
  DType dtype;
  /// Integers in a register of the processor that a matrix was packed for; 0: it is not packed.
  std::int64_t register_width = 0;
  /// Tables of embeddings are stored row by row; matrices always are column by column.
  bool tables_by_rows = false;
};

/// The type of that code; null for any other.
const IntgemmType* find_intgemm_type(std::uint64_t code);

/// Bytes that so many elements take, their multiplier included.
std::uint64_t intgemm_bytes(const IntgemmType& type, std::uint64_t elements);

/// A matrix [K, N] as quantized vectors, one for each of its columns: [N, K]. `data` has at least
/// intgemm_bytes. Throws Error, which begins with `where`, for a shape that cannot be packed and
/// for a multiplier that is no positive number.
Tensor read_intgemm_columns(const IntgemmType& type, std::int64_t k, std::int64_t n,
                            std::string_view data, const std::string& where);

/// A table whose rows are stored one after the other, as quantized rows in the same shape.
Tensor read_intgemm_rows(const IntgemmType& type, const std::vector<std::int64_t>& shape,
                         std::string_view data, const std::string& where);

}  // namespace fuselage
