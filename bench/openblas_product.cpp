#include <cblas.h>

#include "bench/peer_products.h"

namespace fuselage {

PeerProduct openblas_product(const float* w, std::size_t k, std::size_t n) {
  openblas_set_num_threads(1);
  const auto terms = static_cast<int>(k), columns = static_cast<int>(n);
  return [=](const float* x, std::size_t rows, float* y) {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, static_cast<int>(rows), columns, terms,
                1, x, terms, w, columns, 0, y, columns);
  };
}

}  // namespace fuselage
