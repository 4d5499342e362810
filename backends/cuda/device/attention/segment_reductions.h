#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backends/cuda/device/runtime/floats_out.h"
#include "backends/cuda/device/runtime/rows.h"

namespace fuselage::cuda {

// Reductions over segments: the pairs of each left row.

/// Softmax over the pairs of each left row, for each head. x and out have `heads` columns and may
/// be the same memory.
void segment_softmax(cudaStream_t stream, const RowsIn& x, std::int64_t heads,
                     const Segments& segments, const Rows& left, const RowsOut& out);

/// Log-softmax over the pairs of each left row, with the same operands.
void segment_log_softmax(cudaStream_t stream, const RowsIn& x, std::int64_t heads,
                         const Segments& segments, const Rows& left, const RowsOut& out);

/// out[i] is the sum of weights[p] * x[p] over the pairs p of left row i. `weights` has a column
/// for each head. x is read through its index; pairs with a negative index are left out.
void mix_rows(cudaStream_t stream, const RowsIn& weights, const RowsIn& x, std::int64_t columns,
              const Segments& segments, const Rows& left, const FloatsOut& out);

/// The mean of the rows of x in each segment; zeros for an empty segment.
void mean_rows(cudaStream_t stream, const RowsIn& x, std::int64_t columns, const Segments& segments,
               const Rows& left, const RowsOut& out);

/// The sum of the rows of x in each segment.
void sum_rows(cudaStream_t stream, const RowsIn& x, std::int64_t columns, const Segments& segments,
              const Rows& left, const RowsOut& out);

/// The maximum of the rows of x in each segment, column by column: NaN if an element is NaN,
/// -infinity for an empty segment.
void max_rows(cudaStream_t stream, const RowsIn& x, std::int64_t columns, const Segments& segments,
              const Rows& left, const RowsOut& out);

/// log sum exp of the rows of x in each segment, column by column; -infinity for an empty segment.
void segment_log_sum_exp(cudaStream_t stream, const RowsIn& x, std::int64_t columns,
                         const Segments& segments, const Rows& left, const RowsOut& out);

}  // namespace fuselage::cuda
