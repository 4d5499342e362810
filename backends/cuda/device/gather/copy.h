#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backends/cuda/device/runtime/floats_out.h"
#include "backends/cuda/device/runtime/rows.h"

namespace fuselage::cuda {

// Copies of rows. Elements of any type of 4 bytes.

/// out[r] = in[r], `columns` elements.
void copy_rows(cudaStream_t stream, const RowsIn& in, const Rows& rows, std::int64_t columns,
               const RowsOut& out);

/// out[r] = in[r], `columns` floats, as out takes them.
void copy_rounded_rows(cudaStream_t stream, const RowsIn& in, const Rows& rows,
                       std::int64_t columns, const FloatsOut& out);

/// out[r] = last[previous[r]], or init[r] where previous[r] < 0.
void continue_rows(cudaStream_t stream, const RowsIn& init, const RowsIn& last,
                   const std::int32_t* previous, const Rows& rows, std::int64_t columns,
                   const RowsOut& out);

/// out[index[r]] = in[r].
void scatter_rows(cudaStream_t stream, const RowsIn& in, const std::int32_t* index,
                  const Rows& rows, std::int64_t columns, const RowsOut& out);

}  // namespace fuselage::cuda
