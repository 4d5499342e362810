#include <algorithm>

#include "backends/cuda/device/gather/strided_copy.h"
#include "backends/cuda/device/runtime/early_start.h"
#include "backends/cuda/device/runtime/launch_config.h"
#include "fuselage/base/error.h"

namespace fuselage::cuda {
namespace {

__global__ void strided_copy_kernel(RowsIn x, DeviceStrides view, Rows rows, std::int64_t columns,
                                    RowsOut out) {
  start_early();
  for (std::int64_t r = std::int64_t{blockIdx.x} * blockDim.y + threadIdx.y; r < *rows.live;
       r += std::int64_t{gridDim.x} * blockDim.y) {
    const float* from = row_of(x, r);
    for (std::int64_t c = std::int64_t{blockIdx.y} * blockDim.x + threadIdx.x; c < columns;
         c += std::int64_t{gridDim.y} * blockDim.x) {
      std::int64_t at = view.offset;
      std::int64_t rest = c;
      for (int d = view.count - 1; d >= 0; --d) {
        at += rest % view.sizes[d] * view.strides[d];
        rest /= view.sizes[d];
      }
      row_of(out, r)[c] = element(from, at);
    }
  }
}

__global__ void copy_vectors_kernel(RowsIn x, Rows rows, std::int64_t columns, std::int64_t part,
                                    std::int64_t width, RowsOut out) {
  start_early();
  for (std::int64_t r = std::int64_t{blockIdx.x} * blockDim.y + threadIdx.y; r < *rows.live;
       r += std::int64_t{gridDim.x} * blockDim.y) {
    const float* from = row_of(x, r);
    for (std::int64_t c = std::int64_t{blockIdx.y} * blockDim.x + threadIdx.x; c < columns;
         c += std::int64_t{gridDim.y} * blockDim.x)
      row_of(out, r)[c / part * width + c % part] = element(from, c);
  }
}

}  // namespace

DeviceStrides device_strides(const StridedView& view) {
  check(view.sizes.size() <= kMaxStridedDims, "strided_copy: too many dimensions");
  DeviceStrides strides;
  std::copy(view.sizes.begin(), view.sizes.end(), strides.sizes);
  std::copy(view.strides.begin(), view.strides.end(), strides.strides);
  strides.offset = view.offset;
  strides.count = static_cast<std::int32_t>(view.sizes.size());
  return strides;
}

void strided_copy(cudaStream_t stream, const RowsIn& x, const DeviceStrides& view, const Rows& rows,
                  std::int64_t columns, const RowsOut& out) {
  launch_early(stream, strided_copy_kernel, config_for_elements(rows, columns), x, view, rows,
               columns, out);
}

void copy_vectors(cudaStream_t stream, const RowsIn& x, const Rows& rows, std::int64_t columns,
                  std::int64_t part, std::int64_t width, const RowsOut& out) {
  launch_early(stream, copy_vectors_kernel, config_for_elements(rows, columns), x, rows, columns,
               part, width, out);
}

}  // namespace fuselage::cuda
