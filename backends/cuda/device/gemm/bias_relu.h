#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace fuselage::cuda {

/// Adds `bias`, where it is not null, to each row of out [rows, columns], whose rows are `stride`
/// apart, and takes max(·, 0) of the sums with `relu`.
void finish_rows(cudaStream_t stream, float* out, std::int64_t stride, std::int64_t rows,
                 std::int64_t columns, const float* bias, bool relu);

}  // namespace fuselage::cuda
