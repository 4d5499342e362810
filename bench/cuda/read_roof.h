#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace fuselage::cuda {

/// Reads `bytes` at `data`, a multiple of 16, once, and writes next to nothing.
void read_all(cudaStream_t stream, const void* data, std::size_t bytes, float* sink);

}  // namespace fuselage::cuda
