#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backends/cuda/device/runtime/rows.h"

namespace fuselage::cuda {

// Functions over whole rows of `columns` elements. A row of -infinity gives zeros as softmax.

void softmax(cudaStream_t stream, const RowsIn& x, const Rows& rows, std::int64_t columns,
             const RowsOut& out);
void log_softmax(cudaStream_t stream, const RowsIn& x, const Rows& rows, std::int64_t columns,
                 const RowsOut& out);
/// out has one column.
void log_sum_exp(cudaStream_t stream, const RowsIn& x, const Rows& rows, std::int64_t columns,
                 const RowsOut& out);

/// What a normalization does with what has mean 0 and variance 1.
struct NormWeights {
  const float* gain = nullptr;
  const float* bias = nullptr;  ///< nullptr: none
  float epsilon = 0;
};

/// out = (x - mean) / sqrt(variance + epsilon) gain + bias, by the mean first and then the squares
/// around it.
void layer_norm(cudaStream_t stream, const RowsIn& x, const NormWeights& weights, const Rows& rows,
                std::int64_t columns, const RowsOut& out);
/// The same of a + b, which goes to `sum`. An operand of one column repeats it.
void add_layer_norm(cudaStream_t stream, const RowsIn& a, const RowsIn& b,
                    const NormWeights& weights, const Rows& rows, std::int64_t columns,
                    const RowsOut& out, const RowsOut& sum);
/// out = x / sqrt(mean of squares + epsilon) gain.
void rms_norm(cudaStream_t stream, const RowsIn& x, const NormWeights& weights, const Rows& rows,
              std::int64_t columns, const RowsOut& out);

}  // namespace fuselage::cuda
