#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "backends/cpu/simd/gemm/packed_matrix.h"
#include "backends/cpu/simd/gemm/product_epilogue.h"
#include "backends/cpu/simd/output/output_part.h"
#include "fuselage/backends/cpu/simd/rows.h"
#include "fuselage/backends/cpu/simd/simd_functions.h"
#include "fuselage/base/quantized.h"
#include "fuselage/ops/arithmetic/batch_matmul.h"

namespace fuselage::cpu {

/// The output layer of an ensemble member: logits a * matrix + bias, and their weight. bias is
/// [matrix->n()] or null; the weight is finite and not negative.
struct WeightedLayer {
  RowsIn a;
  const PackedMatrix* matrix = nullptr;
  const float* bias = nullptr;
  float weight = 1;
};

/// A matrix stored by columns: column c is `k` numbers of type f32 or bf16, or a quantized vector,
/// at data + c * stride (bytes).
struct MatrixColumns {
  const std::byte* data = nullptr;
  std::size_t stride = 0;
  std::size_t k = 0;
  DType dtype = DType::f32;
};

/// The columns of a list as a matrix of their own, and their biases, or null.
struct PackedList {
  const PackedMatrix* matrix = nullptr;
  const float* bias = nullptr;
};

/// Rows and their list of columns, best ascending; the rows of the next list follow them. With a
/// packed list its matrix and biases are read instead.
struct ListedRows {
  std::size_t rows = 0;
  std::span<const std::int32_t> columns;
  PackedList packed = {};
};

/// Maximum number of rows of all lists that are multiplied together, and of their products unless
/// it is one row.
inline constexpr std::size_t kListedRows = 64;
inline constexpr std::size_t kListedProducts = std::size_t{1} << 17;

/// Rows of quantized vectors, one for each head: `count` of them, of `width` integers. `scale` is
/// the factor of scores.
struct QuantizedHeads {
  std::size_t count = 0;
  std::size_t width = 0;
  float scale = 1;
};

/// Maximum number of members of ensemble_k_best.
inline constexpr std::size_t kMaxEnsemble = 32;

/// The vector kernels of one instruction-set level: those of rows, which kernels from outside use
/// too, and those of the back-end's own matrices, numbers and lists, under the same rules.
struct KernelTable : SimdFunctions {
  /// The layout of PackedMatrix at this level.
  PanelLayout panel_layout;

  /// c [rows, b.n()] = a [rows, b.k()] * b; a.columns is b.row_elements(), and c must not overlap
  /// a. Each output is a chain of float multiply-adds over k from 0, also if b is bf16. If b is
  /// quantized, rows of a are quantized vectors of type row_type_of(b.dtype()), and an output is
  /// the integer dot product, which must fit 32 bits, as a float, times the column's scale, times
  /// the row's scale.
  void (*gemm)(const RowsIn& a, size_t rows, const PackedMatrix& b, const RowsOut& c) = nullptr;

  /// The part of gemm for panels first … last - 1 of b, with an epilogue: writes only their columns
  /// of c.
  void (*gemm_panels)(const RowsIn& a, size_t rows, const PackedMatrix& b, size_t first,
                      size_t last, const ProductEpilogue& after, const RowsOut& c) = nullptr;

  /// The products of the matrices in the rows of a and b, row by row. An element is a sum over k
  /// in order, or with b transposed, or of one column, in 16 lanes. out must not overlap an
  /// operand.
  void (*batch_matmul)(const RowsIn& a, const RowsIn& b, const BatchMatmulShape& shape, size_t rows,
                       const RowsOut& out) = nullptr;

  /// out: the rows of x quantized, bitwise equal to quantize_vector. Not for qlog4 or quantizers
  /// with a bound on sums. out must not overlap x.
  void (*quantize_rows)(const Quantizer& quantizer, const RowsIn& x, size_t rows, size_t cols,
                        const RowsOut& out) = nullptr;

  /// dot_scores of queries of type qint16 and keys of type qint8: the integer dot product of two
  /// vectors, which must fit 32 bits, as a float, times the product of their scales, times
  /// heads.scale.
  void (*quantized_dot_scores)(const RowsIn& q, const RowsIn& k, const QuantizedHeads& heads,
                               const Segments& segments, float* out) = nullptr;

  /// mix_rows of rows of type qint8: a weight is multiplied by the scale of its vector, then by the
  /// integers.
  void (*mix_quantized_rows)(const float* weights, const QuantizedHeads& heads, const RowsIn& x,
                             const Segments& segments, const RowsOut& out) = nullptr;

  /// k_best of a * b + bias, bitwise equal to gemm and binary; bias is [b.n()] or null. With
  /// log_softmax the values are of the rows' log_softmax, still ranked by a * b + bias; a row that
  /// contains NaN or +infinity, or only -infinity, gives -infinity and its first columns, as k_best
  /// does for NaN. log_sums [rows] takes the log sum exp of each row, or is null; it needs
  /// log_softmax. Stores only a few tiles of logits.
  void (*linear_k_best)(const RowsIn& a, size_t rows, const PackedMatrix& b, const float* bias,
                        bool log_softmax, size_t k, float* values, std::int32_t* ids,
                        float* log_sums) = nullptr;

  /// linear_k_best for some blocks of columns, k > 0, with sums of exponentials if part.sums is not
  /// null.
  void (*output_part)(const RowsIn& a, size_t rows, const PackedMatrix& b, const float* bias,
                      size_t k, const OutputPart& part) = nullptr;

  /// Joins the parts of all blocks, in order, to the bitwise result of linear_k_best for one row,
  /// with log_softmax if they have sums. Returns false if the k best are not numbers: then the
  /// result is not known.
  bool (*join_output_parts)(std::span<const OutputPart> parts, size_t row, size_t rows,
                            size_t columns, size_t k, float* values, std::int32_t* ids,
                            float* log_sum) = nullptr;

  /// k_best of the sum over the layers of weight * logits, in their order, with the bits of gemm
  /// and binary. Then subtracts the sums of weight * (largest logit of the row) and of weight *
  /// log(sum(exp(logits - largest))), giving weighted sums of the layers' log_softmax. A row in
  /// which one of these sums is not finite, because a layer has NaN, +infinity or only -infinity,
  /// gives -infinity and its first columns. All matrices have the same number of columns. Stores
  /// only a few tiles of logits.
  void (*ensemble_k_best)(std::span<const WeightedLayer> layers, size_t rows, size_t k,
                          float* values, std::int32_t* ids) = nullptr;

  /// linear_k_best restricted to some columns of b, in order, for rows of lists that may be
  /// multiplied together; ids are column numbers, and bias has an element per column of b. Rows are
  /// of type row_type_of(b.dtype). Float products sum in another order than gemm; products of
  /// quantized vectors are equal.
  void (*shortlist_k_best)(const RowsIn& a, std::span<const ListedRows> lists,
                           const MatrixColumns& b, const float* bias, bool log_softmax, size_t k,
                           float* values, std::int32_t* ids) = nullptr;

  /// The products and biases that shortlist_k_best ranks, list after list and row after row.
  void (*shortlist_products)(const RowsIn& a, std::span<const ListedRows> lists,
                             const MatrixColumns& b, const float* bias, float* out) = nullptr;

  /// log_softmax of the logits of a row's list, with the bits of shortlist_k_best; `out` takes as
  /// many. Where all are -infinity, so are the results.
  void (*shortlist_log_softmax)(std::span<const float> logits, float* out) = nullptr;
};

/// Writes a family's entries for Highway's chosen target; returns the target that the functions
/// were compiled for. A family is a .cpp file compiled once per target (targets.h).
using FillFamily = std::int64_t (*)(KernelTable& table);

std::int64_t fill_gemm(KernelTable& table);
std::int64_t fill_batch_matmul(KernelTable& table);
std::int64_t fill_quantize(KernelTable& table);
std::int64_t fill_pointwise(KernelTable& table);
std::int64_t fill_normalize(KernelTable& table);
std::int64_t fill_attention(KernelTable& table);
std::int64_t fill_quantized_attention(KernelTable& table);
std::int64_t fill_k_best(KernelTable& table);
std::int64_t fill_output(KernelTable& table);
std::int64_t fill_ensemble_output(KernelTable& table);
std::int64_t fill_shortlist(KernelTable& table);

inline constexpr FillFamily kFillFamilies[] = {
    fill_gemm,      fill_batch_matmul,        fill_quantize, fill_pointwise, fill_normalize,
    fill_attention, fill_quantized_attention, fill_k_best,   fill_output,    fill_ensemble_output,
    fill_shortlist};

/// Replaces entries of a Highway target's table by kernels that use VNNI instructions on its
/// vectors; false if the binary has none.
bool fill_vnni(std::int64_t target, KernelTable& table);

/// The same with AMX's instructions beside VNNI.
bool fill_amx(std::int64_t target, KernelTable& table);

/// The same with ARM's dot products of bytes, and with its products of matrices of bytes beside
/// them.
bool fill_dotprod(std::int64_t target, KernelTable& table);
bool fill_i8mm(std::int64_t target, KernelTable& table);

/// The table of the active level (see isa.h); lives as long as the process.
const KernelTable& kernels();

}  // namespace fuselage::cpu
