#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace fuselage::cuda {

/// Adds `bias`, unless null, to each row of out [rows, columns], in place, then applies ReLU if
/// `relu`. Rows are `stride` elements apart.
void add_bias_relu(cudaStream_t stream, float* out, std::int64_t stride, std::int64_t rows,
                   std::int64_t columns, const float* bias, bool relu);

}  // namespace fuselage::cuda
