#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "backends/cuda/device/runtime/floats_out.h"
#include "backends/cuda/device/runtime/rows.h"

namespace fuselage::cuda {

/// New rows of keys or values, by left row, that attention itself appends, rounded to T, to the
/// rows of earlier steps: the row of left row i becomes right row number newest[i], which only i
/// attends to in this step. No data: none.
template <typename T>
struct NewRows {
  RowsIn rows;
  const std::int32_t* newest = nullptr;
  T* history = nullptr;  ///< the rows of all steps: those that are attended to
};

/// The operands of attention: left row i attends to the right rows of its pairs. Keys and values
/// are of T: float, __nv_bfloat16 or __half.
template <typename T>
struct Attention {
  RowsIn queries;    ///< by left row
  RowsOf<T> keys;    ///< by pair, through an index
  RowsOf<T> values;  ///< by pair, through an index
  RowsIn biases;     ///< by pair and head, for dot_attention; no data: none
  Segments segments;
  Rows left;
  NewRows<T> new_keys, new_values;  ///< for dot_attention
};

/// Scaled dot-product attention with `heads` heads. weights[p], by pair and head, is the softmax
/// over the pairs of left row i of scale * (query · key) + bias; mixtures[i] is the weighted sum of
/// the values. If nothing `reads_weights`, they are scratch memory, written or not.
template <typename T>
void dot_attention(cudaStream_t stream, const Attention<T>& in, std::int64_t heads, float scale,
                   const RowsOut& weights, bool reads_weights, const FloatsOut& mixtures);

/// Additive attention: one head with the score v · tanh(q + k). Queries are exp(q) and keys exp(k),
/// since tanh(q + k) = 1 - 2 / (1 + (exp(q) exp(k))²).
void additive_attention(cudaStream_t stream, const Attention<float>& in, const float* v,
                        const RowsOut& weights, const FloatsOut& mixtures);

/// out[r], with `heads` columns: scale * (a[r] · b[r]) for each head.
void head_dot(cudaStream_t stream, const RowsIn& a, const RowsIn& b, std::int64_t heads,
              float scale, const Rows& rows, const RowsOut& out);

}  // namespace fuselage::cuda
