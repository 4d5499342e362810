#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backends/cuda/device/gemm/vectors.h"
#include "fuselage/base/dtype.h"

namespace fuselage::cuda {

/// Rounds f32 vectors to bf16 or f16, ties to even, each to `width` numbers, padded with zeros. The
/// vectors of a row follow one another in out, whose stride is that from vector to vector. Rows of
/// out without a live vector are left.
void round_rows(cudaStream_t stream, const VectorsIn& in, DType to, std::int64_t width,
                const ResultOf<std::uint16_t>& out);

/// Splits quantized vectors with `bytes` bytes of integers into integers [in.max_count(), stride],
/// padded with zeros, and scales. stride is in bytes, a multiple of 4.
void split_rows(cudaStream_t stream, const VectorsIn& in, std::int64_t bytes, std::int64_t stride,
                std::byte* integers, float* scales);

}  // namespace fuselage::cuda
