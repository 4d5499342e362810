#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace fuselage::cuda {

// An output layer's steps behind the product as kernels by themselves, to compare with. Logits and
// scores are [rows, columns] of f32; rows are a multiple of 16 bytes.

struct LogitMatrix {
  const float* logits = nullptr;
  const float* bias = nullptr;
  std::int64_t rows = 0;
  std::int32_t columns = 0;
};

// The three kernels that Hoang et al. (WNMT 2018, section 3.2) replaced by one.

/// out = logits + bias.
void add_bias(cudaStream_t stream, const LogitMatrix& in, float* out);
/// In place, a block a row: the largest, the sum of exponentials, the logarithms of probabilities.
void log_softmax_in_passes(cudaStream_t stream, float* scores, std::int64_t rows,
                           std::int32_t columns);
/// A block a row goes over it once for each of the k best, and then puts -infinity in its place.
void best_in_passes(cudaStream_t stream, float* scores, std::int64_t rows, std::int32_t columns,
                    std::int32_t k, float* values, std::int32_t* ids);

// The best that separate kernels can do: two reads, in the first of which the normalizer is found,
// and one write. The k best take a read more.

/// logarithms of probabilities; normalizers has room for two numbers a row.
void log_softmax_in_two_reads(cudaStream_t stream, const LogitMatrix& in, float* normalizers,
                              float* scores);

}  // namespace fuselage::cuda
