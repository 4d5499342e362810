#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace fuselage::cuda {

// Kernels for tests of launches.

/// out[i] = in[n - 1 - i] through dynamic shared memory; one block, any number of threads.
void launch_reverse(cudaStream_t stream, const float* in, float* out, std::int32_t n,
                    std::uint32_t threads);

/// out[b] = sum of in[b * n …] by shuffles and static shared memory; a block for each row.
void launch_row_sums(cudaStream_t stream, const float* in, float* out, std::uint32_t rows,
                     std::int32_t n);

/// out[i] = the thread's number + 1000 * the block's number.
void launch_numbers(cudaStream_t stream, std::int32_t* out, dim3 grid, dim3 block);

}  // namespace fuselage::cuda
