#pragma once

#include <cstddef>
#include <cstdint>

#include "fuselage/base/api.h"

namespace FUSELAGE_API fuselage {
namespace cpu {

/// A float32 matrix operand whose rows may be read through an index: with `rows`, row r is data +
/// rows[r] * stride, or `fallback` if rows[r] < 0; without, data + r * stride. A null fallback
/// reads as zeros. Stride 0 repeats one row. `columns` is the number of columns, or 1 to broadcast
/// one element over each row if the kernel supports it.
struct RowsIn {
  const float* data = nullptr;
  std::size_t stride = 0;
  const std::int32_t* rows = nullptr;
  const float* fallback = nullptr;
  std::size_t columns = 0;
};

/// A float32 matrix to write: row r is data + r * stride.
struct RowsOut {
  float* data = nullptr;
  std::size_t stride = 0;
};

/// Pairs grouped by left row: the pairs of left row i are begin[i] … begin[i + 1] - 1. `begin` has
/// count + 1 non-decreasing entries; begin[0] need not be 0, so {begin + i, n} are the segments of
/// n rows from row i on, with unchanged pair numbers.
struct Segments {
  const std::int32_t* begin = nullptr;
  std::size_t count = 0;
};

/// At least `columns` zeros, valid until the thread requests more.
const float* zero_row(std::size_t columns);

/// Row r of `in`, `columns` wide.
inline const float* row_of(const RowsIn& in, std::size_t r, std::size_t columns) {
  if (!in.rows) return in.data + r * in.stride;
  const std::int32_t index = in.rows[r];
  if (index >= 0) return in.data + static_cast<std::size_t>(index) * in.stride;
  return in.fallback ? in.fallback : zero_row(columns);
}

/// The rows of `in` from `begin` on.
inline RowsIn rows_from(const RowsIn& in, std::size_t begin) {
  RowsIn rest = in;
  if (in.rows)
    rest.rows += begin;
  else
    rest.data += begin * in.stride;
  return rest;
}

}  // namespace cpu
}  // namespace fuselage
