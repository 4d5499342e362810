#include "backends/cuda/device/output/k_best_epilogue.h"
#include "backends/cuda/device/runtime/launch.h"

namespace fuselage::cuda {
namespace {

constexpr std::int32_t kRowsOfBlock = 4;

/// A warp for each row.
template <std::int32_t kSlots>
__global__ void __launch_bounds__(kRowsOfBlock* kWarpSize) merge_kernel(KBestParts parts) {
  const std::int64_t r = std::int64_t{blockIdx.x} * kRowsOfBlock + threadIdx.x / kWarpSize;
  if (r >= *parts.rows.live) return;
  WarpBest<kSlots> best(parts.k);
  const KBestParts::Lists& lists = parts.lists;
  for (std::int32_t i = 0; i < lists.count; ++i)
    best.insert_list(lists.first + (i * lists.stride + r * lists.row_stride) * parts.k);
  const KBestParts::Normalizers& normalizers = parts.normalizers;
  KBestEpilogue epilogue = parts.epilogue;
  for (std::int32_t m = 0; epilogue.log_softmax && m < parts.members; ++m) {
    const SoftmaxNormalizer* first =
        normalizers.first + m * normalizers.member_stride + r * normalizers.row_stride;
    add_member(epilogue, merge_normalizers({first, normalizers.stride, normalizers.count}),
               parts.weights[m]);
  }
  write_best(best, epilogue, parts.out, r);
}

}  // namespace

void merge_k_best(cudaStream_t stream, const KBestParts& parts) {
  launch(stream, parts.k <= kWarpSize ? merge_kernel<1> : merge_kernel<2>,
         {dim3(blocks_for(parts.rows.max_live, kRowsOfBlock)), dim3(kRowsOfBlock * kWarpSize)},
         parts);
}

}  // namespace fuselage::cuda
