#pragma once

#include <cstddef>
#include <cstdint>

#include "fuselage/backends/cpu/simd/rows.h"
#include "fuselage/base/api.h"

namespace FUSELAGE_API fuselage {
namespace cpu {

enum class Binary : std::uint8_t {
  add,
  sub,
  mul,
  div,
  max,
  min,
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal
};
enum class Unary : std::uint8_t {
  neg,
  sigmoid,
  tanh,
  sigmoid_fast,
  tanh_fast,
  sigmoid_table,
  tanh_table,
  relu,
  swish,
  gelu,
  exp,
  log,
  sqrt,
  abs
};

/// Reductions of rows, column by column.
enum class RowReduction : std::uint8_t { sum, max, log_sum_exp };

/// Functions of one row of `cols` elements; `out` may be an operand.
using UnaryRow = void (*)(const float* x, std::size_t cols, float* out);
using BinaryRow = void (*)(const float* a, const float* b, std::size_t cols, float* out);

/// Vector functions of rows for one instruction-set level; a kernel gets those of its executable
/// from simd_functions() in runtime/operands.h. All levels give the same bits. Each computes a row
/// in a fixed order of operations, so a row's result does not depend on the other rows. Unless it
/// says otherwise a function needs columns == cols in its operands, and may write over an operand
/// that is not read through an index when their rows coincide.
struct SimdFunctions {
  using size_t = std::size_t;

  /// out [rows, cols] = op(a, b); either operand may have columns == 1.
  void (*binary)(Binary op, const RowsIn& a, const RowsIn& b, size_t rows, size_t cols,
                 const RowsOut& out) = nullptr;

  /// out [rows, cols] = op(x); x may have columns == 1. swish is x * sigmoid(x); gelu is the exact
  /// one, with the error function.
  void (*unary)(Unary op, const RowsIn& x, size_t rows, size_t cols, const RowsOut& out) = nullptr;

  /// The row function of unary, for repeated calls; a scalar operand is one element.
  UnaryRow (*unary_row)(Unary op, bool scalar) = nullptr;
  BinaryRow (*binary_row)(Binary op, bool scalar_a, bool scalar_b) = nullptr;

  /// Softmax over the columns of each row. A row of only -infinity gives zeros.
  void (*softmax)(const RowsIn& x, size_t rows, size_t cols, const RowsOut& out) = nullptr;

  /// Its logarithm: (x - max) - log(sum(exp(x - max))). A row of only -infinity is unchanged.
  void (*log_softmax)(const RowsIn& x, size_t rows, size_t cols, const RowsOut& out) = nullptr;

  /// gain * (x - mean) / sqrt(variance + eps) + bias over the columns of each row, with the
  /// population variance; gain and bias are [cols] or null.
  void (*layer_norm)(const RowsIn& x, const float* gain, const float* bias, float eps, size_t rows,
                     size_t cols, const RowsOut& out) = nullptr;

  /// scale * x / sqrt(mean(x^2) + eps) over the columns of each row; scale is [cols] or null.
  void (*rms_norm)(const RowsIn& x, const float* scale, float eps, size_t rows, size_t cols,
                   const RowsOut& out) = nullptr;

  /// out [rows, heads]: scale times the dot product of q's and k's slices of cols / heads columns.
  /// out must not overlap an operand.
  void (*head_dot)(const RowsIn& q, const RowsIn& k, size_t heads, float scale, size_t rows,
                   size_t cols, const RowsOut& out) = nullptr;

  /// out [pairs, heads]: head_dot for the pairs of each segment, whose rows of q are all the same.
  void (*dot_scores)(const RowsIn& q, const RowsIn& k, size_t heads, float scale, size_t cols,
                     const Segments& segments, float* out) = nullptr;

  /// scores [pairs, heads] += row p of biases, for the pairs p of all segments.
  void (*add_biases)(const RowsIn& biases, size_t heads, const Segments& segments,
                     float* scores) = nullptr;

  /// out [pairs]: for the pairs p of segment i, the sum over c of -2 v[c] / (1 + (q[i, c] k[p,
  /// c])^2): the dot product of v and tanh(log q + log k), up to a constant. q and k hold
  /// exponentials, positive and finite; v is [cols].
  void (*factored_scores)(const RowsIn& q, const RowsIn& k, const float* v, size_t cols,
                          const Segments& segments, float* out) = nullptr;

  /// Softmax over the pairs of each segment, per head; e and out are [pairs, heads] and may be the
  /// same. As in softmax, only -infinity gives zeros.
  void (*segment_softmax)(const float* e, size_t heads, const Segments& segments,
                          float* out) = nullptr;

  /// out [segments.count, cols]: row i, slice h is the sum over the pairs p of segment i, in order,
  /// of weights[p, h] * (row p of x, slice h); zeros for an empty segment. weights is
  /// [pairs, heads]. out must not overlap x.
  void (*mix_rows)(const float* weights, size_t heads, const RowsIn& x, size_t cols,
                   const Segments& segments, const RowsOut& out) = nullptr;

  /// out [segments.count, cols]: the sum of rows p of x in order, divided by their number; zeros
  /// for an empty segment. out must not overlap x.
  void (*mean_rows)(const RowsIn& x, size_t cols, const Segments& segments,
                    const RowsOut& out) = nullptr;

  /// out [segments.count, cols]: a reduction of the rows p of x in each segment, in order. An empty
  /// segment has the sum 0 and -infinity otherwise. The maximum of numbers with NaN is NaN.
  /// out must not overlap x.
  void (*reduce_rows)(RowReduction reduction, const RowsIn& x, size_t cols,
                      const Segments& segments, const RowsOut& out) = nullptr;

  /// The k largest of each row, largest first and the lower column first among equals: values and
  /// ids [rows, k]. NaN counts as -infinity. If k > cols the rest is -infinity with id -1.
  void (*k_best)(const RowsIn& x, size_t rows, size_t cols, size_t k, float* values,
                 std::int32_t* ids) = nullptr;

  /// out [rows, 1]: log(sum(exp(x - max))) + max over the columns of each row. A row of only
  /// -infinity gives -infinity.
  void (*log_sum_exp)(const RowsIn& x, size_t rows, size_t cols, const RowsOut& out) = nullptr;
};

}  // namespace cpu
}  // namespace fuselage
