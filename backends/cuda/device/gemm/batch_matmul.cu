#include "backends/cuda/device/gemm/batch_matmul.h"
#include "backends/cuda/device/runtime/launch_config.h"

namespace fuselage::cuda {
namespace {

/// Column i * n + j of a row is element [i, j] of the first product, and so on.
__global__ void batch_matmul_kernel(RowsIn a, RowsIn b, BatchMatmulShape shape, Rows rows,
                                    RowsOut out) {
  const std::int64_t m = shape.m, k = shape.k, n = shape.n;
  const std::int64_t columns = shape.count * m * n;
  const std::int64_t b_row = shape.transposed ? 1 : n;
  const std::int64_t b_column = shape.transposed ? k : 1;
  for (std::int64_t r = std::int64_t{blockIdx.x} * blockDim.y + threadIdx.y; r < *rows.live;
       r += std::int64_t{gridDim.x} * blockDim.y) {
    const float* left = row_of(a, r);
    const float* right = row_of(b, r);
    float* to = row_of(out, r);
    for (std::int64_t c = std::int64_t{blockIdx.y} * blockDim.x + threadIdx.x; c < columns;
         c += std::int64_t{gridDim.y} * blockDim.x) {
      float sum = 0;
      if (left && right) {
        const float* x = left + c / n * k;
        const float* y = right + c / (m * n) * k * n + c % n * b_column;
        for (std::int64_t l = 0; l < k; ++l) sum += x[l] * y[l * b_row];
      }
      to[c] = sum;
    }
  }
}

}  // namespace

void batch_matmul(cudaStream_t stream, const RowsIn& a, const RowsIn& b,
                  const BatchMatmulShape& shape, const Rows& rows, const RowsOut& out) {
  launch(stream, batch_matmul_kernel, config_for_elements(rows, shape.count * shape.m * shape.n), a,
         b, shape, rows, out);
}

}  // namespace fuselage::cuda
