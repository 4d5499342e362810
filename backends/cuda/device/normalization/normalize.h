#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backends/cuda/device/runtime/floats_out.h"
#include "backends/cuda/device/runtime/rows.h"

namespace fuselage::cuda {

// Normalizations of rows of `columns` elements.

/// A row of -infinity gives zeros.
void softmax(cudaStream_t stream, const RowsIn& x, const Rows& rows, std::int64_t columns,
             const RowsOut& out);
void log_softmax(cudaStream_t stream, const RowsIn& x, const Rows& rows, std::int64_t columns,
                 const RowsOut& out);
/// out has one column.
void log_sum_exp(cudaStream_t stream, const RowsIn& x, const Rows& rows, std::int64_t columns,
                 const RowsOut& out);

/// The affine part of a normalization, and the term that is added to the variance.
struct NormWeights {
  const float* gain = nullptr;
  const float* bias = nullptr;  ///< nullptr: none
  float epsilon = 0;
};

/// out = (x - mean) / sqrt(variance + epsilon) * gain + bias. Two passes: mean, then variance.
void layer_norm(cudaStream_t stream, const RowsIn& x, const NormWeights& weights, const Rows& rows,
                std::int64_t columns, const RowsOut& out);
/// sum = a + b; out = layer_norm(sum). An operand with one column is broadcast. Unless
/// `stores_sum`, the floats of sum are scratch memory, written or not.
void add_layer_norm(cudaStream_t stream, const RowsIn& a, const RowsIn& b,
                    const NormWeights& weights, const Rows& rows, std::int64_t columns,
                    const FloatsOut& out, const FloatsOut& sum, bool stores_sum);
/// out = x / sqrt(mean of squares + epsilon) * gain.
void rms_norm(cudaStream_t stream, const RowsIn& x, const NormWeights& weights, const Rows& rows,
              std::int64_t columns, const RowsOut& out);
/// sum = a + b; out = rms_norm(sum), as add_layer_norm().
void add_rms_norm(cudaStream_t stream, const RowsIn& a, const RowsIn& b, const NormWeights& weights,
                  const Rows& rows, std::int64_t columns, const FloatsOut& out,
                  const FloatsOut& sum, bool stores_sum);

}  // namespace fuselage::cuda
