#pragma once

#include <cuda_runtime.h>

#include "backends/cuda/device/runtime/rows.h"
#include "fuselage/ops/arithmetic/batch_matmul.h"

namespace fuselage::cuda {

/// The products of the matrices in the rows of a and b.
void batch_matmul(cudaStream_t stream, const RowsIn& a, const RowsIn& b,
                  const BatchMatmulShape& shape, const Rows& rows, const RowsOut& out);

}  // namespace fuselage::cuda
