#include "backends/cuda/device/gemm/row_dots.h"
#include "backends/cuda/device/runtime/dot_products.h"
#include "backends/cuda/device/runtime/early_start.h"
#include "backends/cuda/device/runtime/launch.h"

namespace fuselage::cuda {
namespace {

constexpr int kRows = 4;  // rows of a block, a warp for each

__global__ void dot_kernel(RowsIn x, Rows rows, const float* w, RowsOut out) {
  start_early();
  const std::int64_t r =
      static_cast<std::int64_t>(blockIdx.x) * kRows + static_cast<int>(threadIdx.x) / kWarpSize;
  if (r >= *rows.live) return;
  const float sum = dot<kWarpSize>({row_of(x, r)}, {w}, x.columns);
  if (lane_id() == 0) *row_of(out, r) = sum;
}

}  // namespace

void row_dots(cudaStream_t stream, const RowsIn& x, const Rows& rows, const float* w,
              const RowsOut& out) {
  launch_early(stream, dot_kernel, {blocks_for(rows.max_live, kRows), kRows * kWarpSize}, x, rows,
               w, out);
}

}  // namespace fuselage::cuda
