#pragma once

#include <cstdint>
#include <memory>
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

/// The data of an item, of at least intgemm_bytes bytes.
struct IntgemmData {
  const IntgemmType& type;
  std::string_view bytes;
  /// Keeps the bytes. If it is not null, the vectors are made at their first use.
  std::shared_ptr<const void> owner;
  /// Begins messages.
  std::string where;
};

/// A matrix [K, N] as one quantized vector per column: [N, K]. Throws Error for a shape that cannot
/// be packed, for a multiplier that is not a positive number and, when the vectors are made, for
/// integers that cannot be negated.
Tensor read_intgemm_columns(const IntgemmData& data, std::int64_t k, std::int64_t n);

/// A table that is stored row by row, as one quantized vector per row, in the same shape. Throws
/// the same errors.
Tensor read_intgemm_rows(const IntgemmData& data, const std::vector<std::int64_t>& shape);

}  // namespace fuselage
