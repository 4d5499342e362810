// The merging of partial results, mostly of output layers without logits in memory: for 64 rows and
// 58,101 columns, 228 lists and 908 normalizers of each row. One warp that inserted list after list
// waited for memory 228 times, 0.3 us each, and 58 times for normalizers: 71 us on an H200. Here
// threads load 8 entries at once, so a row waits once for lists of 768 entries and, in another
// warp, 8 times for its normalizers: 2 passes over 908, by 256. Counted at 0.6 us for a load from
// memory and 0.3 us from the L2 cache, that is 4 us (not measured). Bytes: 8 for each list entry
// and 16 for each normalizer, 1.0 MB in all, 0.3 us at 4 TB/s.

#include "backends/cuda/device/output/k_best_epilogue.h"
#include "backends/cuda/device/runtime/early_start.h"
#include "backends/cuda/device/runtime/launch.h"
#include "backends/cuda/device/runtime/shared_memory.h"

namespace fuselage::cuda {
namespace {

constexpr std::int32_t kMergeWarps = 4;
constexpr std::int32_t kListWarps = kMergeWarps - 1;  // the last one begins with normalizers
constexpr std::int32_t kEntriesInFlight = 8;          // loads of a thread

/// Adds the warp's share of a row's lists to its candidates.
template <std::int32_t kSlots>
__device__ void read_lists(const KBestParts& parts, std::int64_t r, std::int32_t warp,
                           WarpCandidates<kSlots>& candidates) {
  constexpr std::int32_t kAtOnce = kEntriesInFlight * kWarpSize;
  const std::int32_t count = parts.lists.count * parts.k;
  const Ranked* entries = parts.lists.first + r * count;
  for (std::int32_t first = warp * kAtOnce; first < count; first += kListWarps * kAtOnce) {
    Ranked own[kEntriesInFlight];
#pragma unroll
    for (std::int32_t i = 0; i < kEntriesInFlight; ++i) {
      const std::int32_t entry = first + i * kWarpSize + lane_id();
      if (entry < count) own[i] = entries[entry];
    }
    float max = kLowest;
#pragma unroll
    for (std::int32_t i = 0; i < kEntriesInFlight; ++i) max = fmaxf(max, own[i].value);
    if (!candidates.reach(max)) continue;
#pragma unroll
    for (std::int32_t i = 0; i < kEntriesInFlight; ++i)
      candidates.add(own[i], own[i].column != Ranked::kNowhere);
  }
}

/// A block for each row.
template <std::int32_t kSlots>
__global__ void __launch_bounds__(kMergeWarps* kWarpSize) merge_kernel(KBestParts parts) {
  start_early();
  const std::int64_t r = blockIdx.x;
  if (r >= *parts.rows.live) return;
  __shared__ float2 totals[kMaxMembers];  // maxima and sums of members
  const auto warp = static_cast<std::int32_t>(threadIdx.x) / kWarpSize;
  const BlockBest block(dynamic_shared<Ranked>(), parts.k);
  WarpCandidates<kSlots> candidates(block);
  if (warp < kListWarps) read_lists(parts, r, warp, candidates);
  candidates.close();
  const KBestParts::Normalizers& normalizers = parts.normalizers;
  KBestEpilogue epilogue = parts.epilogue;
  const std::int32_t members = epilogue.log_softmax ? parts.members : 0;
  for (std::int32_t m = kMergeWarps - 1 - warp; m < members; m += kMergeWarps) {
    const SoftmaxNormalizer* first =
        normalizers.first + m * normalizers.member_stride + r * normalizers.row_stride;
    const SoftmaxNormalizer total =
        merge_normalizers({first, normalizers.stride, normalizers.count});
    if (lane_id() == 0) totals[m] = {total.max, total.sum};
  }
  __syncthreads();
  candidates.select();
  if (warp > 0) return;
  for (std::int32_t m = 0; m < members; ++m)
    add_member(epilogue, {totals[m].x, totals[m].y}, parts.weights[m]);
  write_best(block, epilogue, parts.out, r);
}

}  // namespace

void merge_k_best(cudaStream_t stream, const KBestParts& parts) {
  launch_early(stream, parts.k <= kWarpSize ? merge_kernel<1> : merge_kernel<2>,
               {dim3(static_cast<unsigned>(parts.rows.max_live)), dim3(kMergeWarps * kWarpSize),
                block_best_bytes(kMergeWarps, parts.k)},
               parts);
}

}  // namespace fuselage::cuda
