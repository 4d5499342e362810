#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cpu/kernels/packed_matrix.h"
#include "backends/cpu/kernels/rows.h"

namespace fuselage::cpu {

enum class Binary : std::uint8_t { add, sub, mul, div, max, min };
enum class Unary : std::uint8_t { neg, sigmoid, tanh, relu, swish, gelu, exp, log, sqrt, abs };

/// Functions of one row of `cols` elements; `out` may be an operand.
using UnaryRow = void (*)(const float* x, std::size_t cols, float* out);
using BinaryRow = void (*)(const float* a, const float* b, std::size_t cols, float* out);

/// The vector kernels of one instruction-set level. Every kernel computes a row by one order of
/// operations, whatever the other rows are, so a row's result is the same alone and in any batch.
/// Unless it says otherwise a kernel needs columns == cols in its operands, and may write over an
/// operand that is not read through an index when their rows coincide.
struct KernelTable {
  using size_t = std::size_t;

  /// Panel width that PackedMatrix uses for this level.
  size_t gemm_panel = 0;

  /// c [rows, b.n()] = a [rows, b.k()] * b: each output is a chain of multiply-adds over k from 0.
  /// c must not overlap a.
  void (*gemm)(const RowsIn& a, size_t rows, const PackedMatrix& b, const RowsOut& c) = nullptr;

  /// The columns of c that belong to panels first … last - 1 of b, into the same places as gemm.
  void (*gemm_panels)(const RowsIn& a, size_t rows, const PackedMatrix& b, size_t first,
                      size_t last, const RowsOut& c) = nullptr;

  /// out [rows, cols] = op(a, b); either operand may have columns == 1.
  void (*binary)(Binary op, const RowsIn& a, const RowsIn& b, size_t rows, size_t cols,
                 const RowsOut& out) = nullptr;

  /// out [rows, cols] = op(x); x may have columns == 1. swish is x * sigmoid(x); gelu is the exact
  /// one, with the error function.
  void (*unary)(Unary op, const RowsIn& x, size_t rows, size_t cols, const RowsOut& out) = nullptr;

  /// The same for single rows, to be called many times; a scalar operand is one element.
  UnaryRow (*unary_row)(Unary op, bool scalar) = nullptr;
  BinaryRow (*binary_row)(Binary op, bool scalar_a, bool scalar_b) = nullptr;

  /// Softmax over the columns of each row. A row of -infinity alone gives zeros.
  void (*softmax)(const RowsIn& x, size_t rows, size_t cols, const RowsOut& out) = nullptr;

  /// Its logarithm: (x - max) - log(sum(exp(x - max))). A row of -infinity alone stays as it is.
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

  /// out [pairs]: for the pairs p of segment i, the sum over c of -2 v[c] / (1 + (q[i, c] k[p,
  /// c])^2): the dot product of v and tanh(log q + log k), but for a constant. q and k hold
  /// exponentials, positive and finite; v is [cols].
  void (*factored_scores)(const RowsIn& q, const RowsIn& k, const float* v, size_t cols,
                          const Segments& segments, float* out) = nullptr;

  /// Softmax down the pairs of each segment, each head alone; e and out are [pairs, heads] and may
  /// be the same. As in softmax, -infinity alone gives zeros.
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

  /// The k largest of each row, largest first and the lower column first among equals: values and
  /// ids [rows, k]. NaN counts as -infinity. Where k > cols the rest is -infinity with id -1.
  void (*k_best)(const RowsIn& x, size_t rows, size_t cols, size_t k, float* values,
                 std::int32_t* ids) = nullptr;

  /// k_best of a * b + bias, whose bits are those of gemm and binary; bias is [b.n()] or null. With
  /// log_softmax the values are those of the rows' log_softmax, still in the order of a * b + bias;
  /// a row with NaN or +infinity in it or of -infinity alone gives -infinity and its first columns,
  /// which is what k_best makes of NaN. No more than a few tiles of logits are ever stored.
  void (*linear_k_best)(const RowsIn& a, size_t rows, const PackedMatrix& b, const float* bias,
                        bool log_softmax, size_t k, float* values, std::int32_t* ids) = nullptr;

  /// out [rows, 1]: log(sum(exp(x - max))) + max over the columns of each row. A row of -infinity
  /// alone gives -infinity.
  void (*log_sum_exp)(const RowsIn& x, size_t rows, size_t cols, const RowsOut& out) = nullptr;
};

/// The table of the active level (see isa.h). It lives as long as the process.
const KernelTable& kernels();

}  // namespace fuselage::cpu
