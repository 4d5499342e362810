#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <functional>

namespace fuselage::cuda {

/// Logarithms of the softmax of each row of a matrix [rows, columns] of f32, from `in` to `out`.
using LogSoftmax = std::function<void(cudaStream_t, const float* in, float* out, std::int64_t rows,
                                      std::int32_t columns)>;

/// cuDNN's; empty where there is no cuDNN. For one thread.
LogSoftmax cudnn_log_softmax();

}  // namespace fuselage::cuda
