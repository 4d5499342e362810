#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace fuselage::cuda {

// The steps of an output layer after the product as separate kernels, for comparison. Logits and
// scores are f32 [rows, columns]; rows are multiples of 16 bytes.

struct LogitMatrix {
  const float* logits = nullptr;
  const float* bias = nullptr;
  std::int64_t rows = 0;
  std::int32_t columns = 0;
};

// The three kernels that Hoang et al. (WNMT 2018, section 3.2) replaced by one kernel.

/// out = logits + bias.
void add_bias(cudaStream_t stream, const LogitMatrix& in, float* out);
/// Log-softmax in place, a block for each row: maximum, sum of exponentials, log-probabilities.
void log_softmax_in_passes(cudaStream_t stream, float* scores, std::int64_t rows,
                           std::int32_t columns);
/// A block for each row, which reads the row k times and replaces each best score by -infinity.
void best_in_passes(cudaStream_t stream, float* scores, std::int64_t rows, std::int32_t columns,
                    std::int32_t k, float* values, std::int32_t* ids);

// Optimal separate kernels: a read for the normalizer, a read and a write for log-probabilities.
// The k best need another read.

/// Log-probabilities. `normalizers` has room for two numbers per row.
void log_softmax_in_two_reads(cudaStream_t stream, const LogitMatrix& in, float* normalizers,
                              float* scores);

}  // namespace fuselage::cuda
