#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace fuselage::cuda {

/// Reads `bytes` (a multiple of 16) at `data` once, with almost no writes.
void read_all(cudaStream_t stream, const void* data, std::size_t bytes, float* sink);

}  // namespace fuselage::cuda
