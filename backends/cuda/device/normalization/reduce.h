#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backends/cuda/device/runtime/rows.h"

namespace fuselage::cuda {

enum class Reduction : std::uint8_t { sum, max, mean };

/// Reduces each of the `vectors` vectors of `columns` elements that a row of x holds. The maximum
/// of a vector with a NaN is NaN.
void reduce_vectors(cudaStream_t stream, Reduction reduction, const RowsIn& x, const Rows& rows,
                    std::int64_t vectors, std::int64_t columns, const RowsOut& out);

}  // namespace fuselage::cuda
