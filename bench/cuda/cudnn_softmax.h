#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <functional>

namespace fuselage::cuda {

/// Log-softmax of each row of an f32 matrix [rows, columns], from `in` to `out`.
using LogSoftmax = std::function<void(cudaStream_t, const float* in, float* out, std::int64_t rows,
                                      std::int32_t columns)>;

/// Log-softmax by cuDNN; empty without cuDNN. Not thread-safe.
LogSoftmax cudnn_log_softmax();

}  // namespace fuselage::cuda
