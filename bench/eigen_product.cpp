// Compiled for this machine, in a separate library, so that the linker does not merge these
// instances of Eigen's templates with the program's.
#include <Eigen/Core>

#include "bench/peer_products.h"

namespace fuselage {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

Eigen::Index as_index(std::size_t size) { return static_cast<Eigen::Index>(size); }

}  // namespace

[[gnu::visibility("default")]] PeerProduct eigen_product(const float* w, std::size_t k,
                                                         std::size_t n) {
  const Eigen::Map<const Matrix> matrix(w, as_index(k), as_index(n));
  return [matrix](const float* x, std::size_t rows, float* y) {
    Eigen::Map<Matrix>(y, as_index(rows), matrix.cols()).noalias() =
        Eigen::Map<const Matrix>(x, as_index(rows), matrix.rows()) * matrix;
  };
}

[[gnu::visibility("default")]] PeerProduct eigen_vector_product(const float* w, std::size_t k,
                                                                std::size_t n) {
  // A column-major matrix, Eigen's default, times a column.
  const Eigen::Map<const Eigen::MatrixXf> matrix(w, as_index(n), as_index(k));
  return [matrix](const float* x, std::size_t rows, float* y) {
    for (std::size_t r = 0; r < rows; ++r, x += matrix.cols(), y += matrix.rows())
      Eigen::Map<Eigen::VectorXf>(y, matrix.rows()).noalias() =
          matrix * Eigen::Map<const Eigen::VectorXf>(x, matrix.cols());
  };
}

[[gnu::visibility("default")]] void eigen_dequantize(const std::int32_t* sums, std::size_t rows,
                                                     std::size_t n, const float* row_scales,
                                                     const float* column_scales, const float* bias,
                                                     float* y) {
  using Row = Eigen::Map<const Eigen::ArrayXf>;
  using Sums = Eigen::Map<const Eigen::Array<std::int32_t, Eigen::Dynamic, 1>>;
  const Row scales(column_scales, as_index(n)), biases(bias, as_index(n));
  for (std::size_t r = 0; r < rows; ++r, sums += n, y += n)
    Eigen::Map<Eigen::ArrayXf>(y, as_index(n)) =
        Sums(sums, as_index(n)).cast<float>() * scales * row_scales[r] + biases;
}

}  // namespace fuselage
