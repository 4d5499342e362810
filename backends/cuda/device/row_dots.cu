#include "backends/cuda/device/launch.h"
#include "backends/cuda/device/row_dots.h"

namespace fuselage::cuda {
namespace {

constexpr int kWarp = 32;
constexpr int kRows = 4;  // of a block, a warp each
constexpr unsigned kAllLanes = 0xffffffffu;

__global__ void dot(RowsIn x, Rows rows, const float* w, RowsOut out) {
  const std::int64_t r =
      static_cast<std::int64_t>(blockIdx.x) * kRows + static_cast<int>(threadIdx.x) / kWarp;
  if (r >= *rows.live) return;
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const float* row = row_of(x, r);
  float sum = 0;
  for (std::int32_t c = lane; c < x.columns; c += kWarp) sum = fmaf(element(row, c), w[c], sum);
  for (int step = kWarp / 2; step > 0; step /= 2) sum += __shfl_xor_sync(kAllLanes, sum, step);
  if (lane == 0) *row_of(out, r) = sum;
}

}  // namespace

void row_dots(cudaStream_t stream, const RowsIn& x, const Rows& rows, const float* w,
              const RowsOut& out) {
  launch(stream, dot, {blocks_for(rows.most, kRows), kRows * kWarp}, x, rows, w, out);
}

}  // namespace fuselage::cuda
