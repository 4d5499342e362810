#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backends/cuda/device/runtime/floats_out.h"
#include "backends/cuda/device/runtime/rows.h"

namespace fuselage::cuda {

/// out[r] = the position of row r in its sentence.
void copy_positions(cudaStream_t stream, const std::int32_t* positions, const Rows& rows,
                    const ResultOf<std::int32_t>& out);

/// The op `sinusoid` with `columns` columns, for the position x[r]. Angles are rounded to float.
void sinusoid(cudaStream_t stream, const RowsOf<std::int32_t>& x, const Rows& rows,
              std::int64_t columns, const RowsOut& out);

/// The op `add_sinusoid`: x[r] plus the sinusoid of positions[r].
void add_sinusoid(cudaStream_t stream, const RowsIn& x, const std::int32_t* positions,
                  const Rows& rows, const FloatsOut& out);

/// The op `rotary`: cos and sin have `half` columns, x and out 2 half in each head.
void rotary(cudaStream_t stream, const RowsIn& x, const RowsIn& cos, const RowsIn& sin,
            const Rows& rows, std::int64_t heads, std::int64_t half, const RowsOut& out);

}  // namespace fuselage::cuda
