#include "backends/cuda/device/dots.h"
#include "backends/cuda/device/row_dots.h"
#include "backends/cuda/device/spread.h"

namespace fuselage::cuda {
namespace {

/// A warp for each row.
__global__ void dot_rows(RowsIn x, Rows rows, const float* w, RowsOut out) {
  const std::int64_t r = RowTeam<kWarp>::number();
  if (r >= *rows.live) return;
  const float sum = dot<kWarp>(Numbers{row_of(x, r)}, Numbers{w}, x.columns);
  if (RowTeam<kWarp>::lane() == 0) *row_of(out, r) = sum;
}

}  // namespace

void row_dots(cudaStream_t stream, const RowsIn& x, const Rows& rows, const float* w,
              const RowsOut& out) {
  launch(stream, dot_rows, spread_teams<kWarp>(rows.most), x, rows, w, out);
}

}  // namespace fuselage::cuda
