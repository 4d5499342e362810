#pragma once

#include <cstdint>
#include <vector>

#include "fuselage/base/api.h"
#include "fuselage/graph/graph.h"
#include "fuselage/graph/row_table.h"

namespace FUSELAGE_API fuselage {

/// A value in the reference evaluation: a row-major matrix with one row per row of its domain (one
/// row for a value without rows). Integers are stored as T; they are small enough to be exact.
template <typename T>
struct Array {
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::vector<T> data;

  Array() = default;
  Array(std::int64_t r, std::int64_t c) : rows(r), cols(c), data(static_cast<std::size_t>(r * c)) {}

  T* row(std::int64_t r) { return data.data() + r * cols; }
  const T* row(std::int64_t r) const { return data.data() + r * cols; }
};

/// Operands and results of a reference evaluation. `results` are preallocated and zeroed.
template <typename T>
struct EvalContext {
  const Graph& graph;
  const Node& node;
  const RowTable& rows;
  std::vector<const Array<T>*> operands;
  std::vector<Array<T>> results;

  const Type& operand_type(std::size_t i) const { return graph.value(node.operands[i]).type; }

  /// Row r of an operand; the only row of an operand without rows.
  const T* operand_row(std::size_t i, std::int64_t r) const {
    return operands[i]->row(operands[i]->rows == 1 ? 0 : r);
  }
};

}  // namespace fuselage
