#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backends/cuda/device/runtime/rows.h"

namespace fuselage::cuda {

// Sums over the pairs of each left row, of which there are `left`.

/// Softmax over the pairs of each left row, head by head. x and out have `heads` columns and may be
/// the same rows.
void segment_softmax(cudaStream_t stream, const RowsIn& x, std::int64_t heads,
                     const Segments& segments, const Rows& left, const RowsOut& out);

/// Log-softmax in the same way.
void segment_log_softmax(cudaStream_t stream, const RowsIn& x, std::int64_t heads,
                         const Segments& segments, const Rows& left, const RowsOut& out);

/// Row i of out is the sum over the pairs p of left row i of weights[p] x[p], where the columns are
/// cut into as many heads as there are columns of weights. x is read for pairs through its index,
/// and where that leads nowhere a pair does not count.
void mix_rows(cudaStream_t stream, const RowsIn& weights, const RowsIn& x, std::int64_t columns,
              const Segments& segments, const Rows& left, const RowsOut& out);

/// The mean of the rows of x in each segment; zeros where there are none.
void mean_rows(cudaStream_t stream, const RowsIn& x, std::int64_t columns, const Segments& segments,
               const Rows& left, const RowsOut& out);

}  // namespace fuselage::cuda
