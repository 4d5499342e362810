#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backends/cuda/device/gemm/vectors.h"
#include "base/dtype.h"

namespace fuselage::cuda {

/// Rounds vectors of f32 to `to`, bf16 or f16, ties to even: out [in.most(), stride], with zeros
/// behind each vector. What is in rows of out that no live vector has stays.
void convert_rows(cudaStream_t stream, const VectorsIn& in, DType to, std::int64_t stride,
                  void* out);

/// Takes quantized vectors of `bytes` bytes of integers apart: integers [in.most(), stride] with
/// zeros behind each vector, where stride is a multiple of 4 bytes, and a scale each.
void split_rows(cudaStream_t stream, const VectorsIn& in, std::int64_t bytes, std::int64_t stride,
                std::byte* integers, float* scales);

}  // namespace fuselage::cuda
