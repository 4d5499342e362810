#include "backends/cuda/device/output/exp_sum.h"
#include "backends/cuda/device/output/k_best_epilogue.h"
#include "backends/cuda/device/output/merge_best.h"
#include "backends/cuda/device/runtime/launch.h"

namespace fuselage::cuda {
namespace {

constexpr std::int32_t kRowsOfBlock = 4;

/// A warp for each row.
template <std::int32_t kSlots>
__global__ void __launch_bounds__(kRowsOfBlock* kWarp) merge_rows(Merge merge) {
  const std::int64_t r = std::int64_t{blockIdx.x} * kRowsOfBlock + threadIdx.x / kWarp;
  if (r >= *merge.rows.live) return;
  WarpBest<kSlots> best(merge.k);
  const Merge::Lists& lists = merge.lists;
  for (std::int32_t i = 0; i < lists.count; ++i)
    best.take_list(lists.first + (i * lists.stride + r * lists.row_stride) * merge.k);
  const Merge::Sums& sums = merge.sums;
  RowEnd end = merge.end;
  for (std::int32_t m = 0; end.log_softmax && m < merge.members; ++m) {
    const ExpSum* first = sums.first + m * sums.member_stride + r * sums.row_stride;
    add_member(end, total_of({first, sums.stride, sums.count}), merge.weights[m]);
  }
  write_best(best, end, merge.out, r);
}

}  // namespace

void merge_best(cudaStream_t stream, const Merge& merge) {
  launch(stream, merge.k <= kWarp ? merge_rows<1> : merge_rows<2>,
         {dim3(blocks_for(merge.rows.most, kRowsOfBlock)), dim3(kRowsOfBlock * kWarp)}, merge);
}

}  // namespace fuselage::cuda
