#include "backends/cuda/device/gemm/matrix_columns.h"

#include <algorithm>
#include <cstring>

#include "fuselage/base/error.h"
#include "fuselage/base/quantized.h"

namespace fuselage::cuda {
namespace {

template <typename T>
void copy_columns(const Tensor& matrix, const MatrixForm& form, MatrixColumns& out) {
  const T* from = matrix.data<T>();
  T* to = reinterpret_cast<T*>(out.numbers.data());
  if (form.transposed) {
    for (std::int64_t c = 0; c < form.n; ++c)
      std::copy_n(from + c * form.k, form.k, to + c * out.stride);
    return;
  }
  // Blocks of columns, so that written lines stay in the cache.
  for (std::int64_t begin = 0; begin < form.n; begin += kMatrixTile)
    for (std::int64_t i = 0; i < form.k; ++i)
      for (std::int64_t c = begin; c < std::min(begin + kMatrixTile, form.n); ++c)
        to[c * out.stride + i] = from[i * form.n + c];
}

void split_vectors(const Tensor& matrix, const MatrixForm& form, MatrixColumns& out) {
  check(form.transposed, "a quantized matrix is stored by columns");
  if (matrix.dtype() == DType::qint16) expect_bounded_sums(matrix.bytes(), form.n, form.k);
  out.scales.assign(static_cast<std::size_t>(padded_size(form.n)), 0.0f);
  const auto size = static_cast<std::int64_t>(size_of(out.dtype));
  const std::byte* vector = matrix.bytes();
  for (std::int64_t c = 0; c < form.n; ++c) {
    out.scales[static_cast<std::size_t>(c)] = scale_of(vector);
    std::memcpy(out.numbers.data() + c * out.stride * size, vector + sizeof(float),
                static_cast<std::size_t>(form.k * size));
    vector += vector_bytes(matrix.dtype(), form.k);
  }
}

DType column_type(DType stored) {
  if (stored == DType::qint8) return DType::i8;
  return stored == DType::qint16 ? DType::i16 : stored;
}

}  // namespace

MatrixColumns matrix_columns(const Tensor& matrix, const MatrixForm& form) {
  check(matrix.size() == form.k * form.n, "a matrix of another size than its product");
  MatrixColumns out{.dtype = column_type(matrix.dtype()), .stride = padded_size(form.k)};
  out.numbers.resize(static_cast<std::size_t>(padded_size(form.n) * out.stride) *
                     size_of(out.dtype));
  switch (matrix.dtype()) {
    case DType::qint8:
    case DType::qint16:
      split_vectors(matrix, form, out);
      break;
    case DType::f16:
    case DType::bf16:
      copy_columns<std::uint16_t>(matrix, form, out);
      break;
    default:
      check(matrix.dtype() == DType::f32, "a matrix of a type that no product takes");
      copy_columns<float>(matrix, form, out);
  }
  return out;
}

}  // namespace fuselage::cuda
