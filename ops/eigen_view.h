#pragma once

// Eigen views of reference arrays. Include it only in .cpp files.

#include <Eigen/Core>

#include "fuselage/ops/evaluate.h"

namespace fuselage {

template <typename T>
using RowMajor = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <typename T>
using MatrixView = Eigen::Map<RowMajor<T>>;
template <typename T>
using ConstMatrixView = Eigen::Map<const RowMajor<T>>;
template <typename T>
using RowView = Eigen::Map<Eigen::Array<T, 1, Eigen::Dynamic>>;
template <typename T>
using ConstRowView = Eigen::Map<const Eigen::Array<T, 1, Eigen::Dynamic>>;

template <typename T>
ConstMatrixView<T> view(const Array<T>& array) {
  return {array.data.data(), array.rows, array.cols};
}

template <typename T>
MatrixView<T> view(Array<T>& array) {
  return {array.data.data(), array.rows, array.cols};
}

/// Row r of a result.
template <typename T>
RowView<T> row_view(Array<T>& array, std::int64_t r) {
  return {array.row(r), array.cols};
}

template <typename T>
using RowArray = Eigen::Array<T, 1, Eigen::Dynamic>;

/// A copy of row r of an operand. The rounding of Eigen's sums and functions depends on the
/// alignment of a view; copies are aligned alike.
template <typename T>
RowArray<T> row_copy(const EvalContext<T>& context, std::size_t operand, std::int64_t r) {
  return ConstRowView<T>(context.operand_row(operand, r), context.operands[operand]->cols);
}

/// Row r of an operand (the only row of an operand without rows).
template <typename T>
ConstRowView<T> row_view(const EvalContext<T>& context, std::size_t operand, std::int64_t r) {
  return {context.operand_row(operand, r), context.operands[operand]->cols};
}

}  // namespace fuselage
