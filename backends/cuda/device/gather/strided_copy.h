#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backends/cuda/device/runtime/rows.h"
#include "backends/cuda/limits.h"
#include "fuselage/ops/structure/shape.h"

namespace fuselage::cuda {

/// A StridedView as a kernel parameter.
struct DeviceStrides {
  std::int64_t sizes[kMaxStridedDims] = {};
  std::int64_t strides[kMaxStridedDims] = {};
  std::int64_t offset = 0;
  std::int32_t count = 0;
};

/// Refuses with an internal error views of more than kMaxStridedDims dimensions.
DeviceStrides device_strides(const StridedView& view);

/// Copies the elements of the rows of x that a view lists; a row of out has `columns` elements.
void strided_copy(cudaStream_t stream, const RowsIn& x, const DeviceStrides& view, const Rows& rows,
                  std::int64_t columns, const RowsOut& out);

/// out[r][v width + c] = x[r][v part + c], for the vectors v of `part` elements in a row of
/// `columns` elements.
void copy_vectors(cudaStream_t stream, const RowsIn& x, const Rows& rows, std::int64_t columns,
                  std::int64_t part, std::int64_t width, const RowsOut& out);

}  // namespace fuselage::cuda
