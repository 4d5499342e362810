#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "backends/cuda/device/gemm/device_weights.h"
#include "backends/cuda/device/gemm/vectors.h"

namespace fuselage::cuda {

/// out = sum * column scale * row scale, in this order, as in all back-ends. Rows are quantized
/// vectors (base/quantized.h) of the matrix's type, i8 or i16. Sums are exact in 32 bits.
void integer_gemm(cudaStream_t stream, const VectorsIn& in, const DeviceMatrix& matrix,
                  const VectorsOut& out);

/// The last step of integer_gemm(), for given sums [in.max_count(), stride] and a scale of each
/// vector.
void scale_sums(cudaStream_t stream, const VectorsIn& in, const std::int32_t* sums,
                std::int64_t stride, const float* scales, const DeviceMatrix& matrix,
                const VectorsOut& out);

/// An f32 copy of a matrix of integers, in memory of its own. Waits for the copy.
std::shared_ptr<const DeviceMatrix> dequantized(const DeviceMatrix& matrix);

}  // namespace fuselage::cuda
