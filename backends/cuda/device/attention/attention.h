#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backends/cuda/device/runtime/rows.h"

namespace fuselage::cuda {

/// Who attends to what: left row i, of which there are `left`, to the right rows of its pairs.
struct Attention {
  RowsIn queries;  ///< of left rows
  RowsIn keys;     ///< of pairs, through an index
  RowsIn values;   ///< the same
  Segments segments;
  Rows left;
};

/// weights[p] = scale × the dot product of query and key of each head, softened over the pairs of a
/// left row; mixtures[i] = the values of its pairs, weighted by them.
void dot_attention(cudaStream_t stream, const Attention& in, std::int64_t heads, float scale,
                   const RowsOut& weights, const RowsOut& mixtures);

/// The same with one head and the score v · tanh(q + k), where queries and keys are exp(q) and
/// exp(k), so that tanh is 1 - 2 / (1 + (exp(q) exp(k))²).
void additive_attention(cudaStream_t stream, const Attention& in, const float* v,
                        const RowsOut& weights, const RowsOut& mixtures);

/// out[r], of `heads` columns: scale × the dot products of a[r] and b[r], head by head.
void head_dot(cudaStream_t stream, const RowsIn& a, const RowsIn& b, std::int64_t heads,
              float scale, const Rows& rows, const RowsOut& out);

}  // namespace fuselage::cuda
