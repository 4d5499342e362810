// Compiled for the machine at hand, in a library of its own: what Eigen's templates become here
// must not be taken for what they are elsewhere in the program.
#include <Eigen/Core>

#include "bench/peer_products.h"

namespace fuselage {

[[gnu::visibility("default")]] PeerProduct eigen_product(const float* w, std::size_t k,
                                                         std::size_t n, std::size_t rows) {
  using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto r = static_cast<Eigen::Index>(rows), terms = static_cast<Eigen::Index>(k),
             columns = static_cast<Eigen::Index>(n);
  return [=](const float* x, float* y) {
    Eigen::Map<Matrix>(y, r, columns).noalias() =
        Eigen::Map<const Matrix>(x, r, terms) * Eigen::Map<const Matrix>(w, terms, columns);
  };
}

}  // namespace fuselage
