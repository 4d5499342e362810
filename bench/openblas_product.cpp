#include <cblas.h>

#include "bench/peer_products.h"

namespace fuselage {

PeerProduct openblas_product(const float* w, std::size_t k, std::size_t n, std::size_t rows) {
  openblas_set_num_threads(1);
  const auto r = static_cast<int>(rows), terms = static_cast<int>(k), columns = static_cast<int>(n);
  return [=](const float* x, float* y) {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, r, columns, terms, 1, x, terms, w,
                columns, 0, y, columns);
  };
}

}  // namespace fuselage
