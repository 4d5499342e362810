#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backends/cuda/device/runtime/rows.h"

namespace fuselage::cuda {

/// out [rows, 1]: the dot product of each row of x with w [x.columns].
void row_dots(cudaStream_t stream, const RowsIn& x, const Rows& rows, const float* w,
              const RowsOut& out);

}  // namespace fuselage::cuda
