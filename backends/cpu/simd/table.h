#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "backends/cpu/simd/gemm/packed_matrix.h"
#include "backends/cpu/simd/output/output_part.h"
#include "backends/cpu/simd/rows.h"
#include "base/quantized.h"

namespace fuselage::cpu {

enum class Binary : std::uint8_t { add, sub, mul, div, max, min };
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

/// Functions of one row of `cols` elements; `out` may be an operand.
using UnaryRow = void (*)(const float* x, std::size_t cols, float* out);
using BinaryRow = void (*)(const float* a, const float* b, std::size_t cols, float* out);

/// The output layer of a model of an ensemble: its logits, a * matrix + bias, and what they count
/// for. bias is [matrix->n()] or null; the weight is finite and not negative.
struct WeightedLayer {
  RowsIn a;
  const PackedMatrix* matrix = nullptr;
  const float* bias = nullptr;
  float weight = 1;
};

/// The columns of a matrix, each of which lies by itself: `k` numbers of type f32 or bf16, or a
/// quantized vector, at data + column * stride, in bytes.
struct MatrixColumns {
  const std::byte* data = nullptr;
  std::size_t stride = 0;
  std::size_t k = 0;
  DType dtype = DType::f32;
};

/// Members that ensemble_k_best takes at most.
inline constexpr std::size_t kMaxEnsemble = 32;

/// The vector kernels of one instruction-set level. Every kernel computes a row by one order of
/// operations, whatever the other rows are, so a row's result is the same alone and in any batch.
/// Unless it says otherwise a kernel needs columns == cols in its operands, and may write over an
/// operand that is not read through an index when their rows coincide.
struct KernelTable {
  using size_t = std::size_t;

  /// What PackedMatrix uses for this level.
  PanelLayout panel_layout;

  /// c [rows, b.n()] = a [rows, b.k()] * b; a.columns is b.row_elements(), and c must not overlap
  /// a. Each output is a chain of multiply-adds over k from 0, of floats also where b is of type
  /// bf16. Where b is quantized, rows of a are quantized vectors of type row_type_of(b.dtype()),
  /// and an output is the sum of the products of integers, which must fit 32 bits, as a float,
  /// times the column's scale, times the row's.
  void (*gemm)(const RowsIn& a, size_t rows, const PackedMatrix& b, const RowsOut& c) = nullptr;

  /// The columns of c that belong to panels first … last - 1 of b, into the same places as gemm.
  void (*gemm_panels)(const RowsIn& a, size_t rows, const PackedMatrix& b, size_t first,
                      size_t last, const RowsOut& c) = nullptr;

  /// out: the quantized vectors of the rows of x, with the bits of quantize_vector. The quantizer
  /// has no bound on sums and is not one to qlog4. out must not overlap x.
  void (*quantize_rows)(const Quantizer& quantizer, const RowsIn& x, size_t rows, size_t cols,
                        const RowsOut& out) = nullptr;

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

  /// linear_k_best for some blocks of columns alone, k > 0, with sums of exponentials where there
  /// is room for them.
  void (*output_part)(const RowsIn& a, size_t rows, const PackedMatrix& b, const float* bias,
                      size_t k, const OutputPart& part) = nullptr;

  /// What linear_k_best gives for one of the rows, to the same bits, from parts of all blocks in
  /// order, with log_softmax if they have sums. False where the k best are not numbers: then it is
  /// not known.
  bool (*join_output_parts)(std::span<const OutputPart> parts, size_t row, size_t rows,
                            size_t columns, size_t k, float* values, std::int32_t* ids) = nullptr;

  /// k_best of the sum over the layers of weight * logits, in their order, with the bits of gemm
  /// and binary. From the values are then subtracted the sums of weight * (largest logit of the
  /// row) and of weight * log(sum(exp(logits - largest))), which makes them weighted sums of the
  /// layers' log_softmax. A row in which one of these sums is not finite, as where a layer has
  /// NaN or +infinity or only -infinity, gives -infinity and its first columns. Matrices have one
  /// number of columns. No more than a few tiles of logits are ever stored.
  void (*ensemble_k_best)(std::span<const WeightedLayer> layers, size_t rows, size_t k,
                          float* values, std::int32_t* ids) = nullptr;

  /// linear_k_best of some columns of b, in order, as if there were no others; ids are their
  /// numbers, and bias has an element for each column of b. Rows are of type row_type_of(b.dtype).
  /// The sums of a product of floats are added up in another order than those of gemm; products of
  /// quantized vectors are the same.
  void (*shortlist_k_best)(const RowsIn& a, size_t rows, const MatrixColumns& b, const float* bias,
                           std::span<const std::int32_t> columns, bool log_softmax, size_t k,
                           float* values, std::int32_t* ids) = nullptr;

  /// out [rows, 1]: log(sum(exp(x - max))) + max over the columns of each row. A row of -infinity
  /// alone gives -infinity.
  void (*log_sum_exp)(const RowsIn& x, size_t rows, size_t cols, const RowsOut& out) = nullptr;
};

/// Writes a family's entries for Highway's chosen target and returns the target that the functions
/// were compiled for. A family is a .cpp file that is compiled once a target (targets.h).
using FillFamily = std::int64_t (*)(KernelTable& table);

std::int64_t fill_gemm(KernelTable& table);
std::int64_t fill_quantize(KernelTable& table);
std::int64_t fill_pointwise(KernelTable& table);
std::int64_t fill_normalize(KernelTable& table);
std::int64_t fill_attention(KernelTable& table);
std::int64_t fill_k_best(KernelTable& table);
std::int64_t fill_output(KernelTable& table);
std::int64_t fill_ensemble_output(KernelTable& table);
std::int64_t fill_shortlist(KernelTable& table);

inline constexpr FillFamily kFillFamilies[] = {
    fill_gemm,   fill_quantize, fill_pointwise,       fill_normalize, fill_attention,
    fill_k_best, fill_output,   fill_ensemble_output, fill_shortlist};

/// Replaces entries of an AVX3 table by those for AVX-512-VNNI; false where there are none.
bool fill_vnni(KernelTable& table);

/// The table of the active level (see isa.h). It lives as long as the process.
const KernelTable& kernels();

}  // namespace fuselage::cpu
