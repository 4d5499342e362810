#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backends/cuda/device/gemm/blas.h"
#include "backends/cuda/device/gemm/device_weights.h"

namespace fuselage::cuda {

/// A product with a matrix of f32, bf16 or f16, of the first k numbers of each vector, without bias
/// and ReLU. An element's sum is one chain of fused multiply-adds in the order of k, so its bits
/// depend on nothing else. For products without a deterministic algorithm of cuBLASLt: it uses no
/// tensor cores.
void fixed_order_product(cudaStream_t stream, const DeviceMatrix& matrix, const Product& product,
                         std::int64_t k);

}  // namespace fuselage::cuda
