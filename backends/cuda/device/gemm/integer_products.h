#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "backends/cuda/device/gemm/device_weights.h"
#include "backends/cuda/device/gemm/vectors.h"

namespace fuselage::cuda {

/// out = sum * scale of the column * scale of the row, in this order of operations, which all
/// back-ends share: of quantized vectors (base/quantized.h) of the matrix's type, i8 or i16, and
/// its columns. Sums are exact in 32 bits.
void integer_products(cudaStream_t stream, const VectorsIn& in, const DeviceMatrix& matrix,
                      const VectorsOut& out);

/// The same, last step alone: sums [in.most(), stride] of integers are there, and a scale of each
/// vector.
void scale_sums(cudaStream_t stream, const VectorsIn& in, const std::int32_t* sums,
                std::int64_t stride, const float* scales, const DeviceMatrix& matrix,
                const VectorsOut& out);

/// The numbers that the columns of a matrix of integers stand for, as a matrix of f32 in memory of
/// its own. Waits until they are there.
std::shared_ptr<const DeviceMatrix> dequantized(const DeviceMatrix& matrix);

}  // namespace fuselage::cuda
