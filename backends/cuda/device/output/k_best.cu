// The k best columns of rows in one read of their logits, with the normalizer of log-softmax: the
// fused kernel of Hoang, Dwojak, Krislauks, Torregrosa, Heafield, "Fast Neural Machine Translation
// Implementation" (WNMT 2018), algorithms 4 to 6. There a sum grows by exp(logit - top) and is to
// be scaled by exp(old top - new top) when the top grows; here this happens a chunk of columns at a
// time, and all sums of chunks are added up in the end, so that a row's bits do not depend on how
// many blocks share it.

#include <algorithm>

#include "backends/cuda/device/output/exp_sum.h"
#include "backends/cuda/device/output/k_best.h"
#include "backends/cuda/device/output/k_best_epilogue.h"
#include "backends/cuda/device/output/logit_chunk.h"
#include "backends/cuda/device/output/merge_best.h"
#include "backends/cuda/device/runtime/launch.h"
#include "backends/cuda/device/runtime/shared_memory.h"

namespace fuselage::cuda {
namespace {

// Candidates of a chunk that wait to be compared with the best.
constexpr std::int32_t kWaiting = 64;

struct Scan {
  Rows rows;
  std::int32_t columns, k, members;
  bool log_softmax;
  std::int32_t shards;
  ListedWords lists;
  BestOut out;
  ExpSum* sums;   // of each row and member, a chunk each
  Ranked* ranks;  // of each row and shard, if there are several
};

template <typename T>
struct Members {
  Logits<T> at[kMaxMembers];
};

// --- Logits of a chunk that may be among the best ---

/// A bound that at least k of a chunk's logits reach: the k-th of the lanes' largest.
template <std::int32_t kSlots>
__device__ float bound_of(float own_top, std::int32_t k) {
  if (kSlots > 1) return kLowest;
  return __shfl_sync(kFullWarp, sorted_lanes(own_top), k - 1);
}

/// Takes in a chunk, of which `bound` may be known. Candidates, which are few, wait in `waiting`
/// until there are enough for all lanes.
template <typename T, std::int32_t kSlots>
__device__ void take_candidates(const float (&x)[kOwn], float bound, std::int32_t columns,
                                std::int32_t chunk, WarpBest<kSlots>& best, Ranked* waiting) {
  const std::int32_t lane = lane_of_thread();
  const unsigned lower_lanes = (1u << lane) - 1;
  std::uint32_t taken = 0;  // which of its own logits the lane has handed in
  for (std::int32_t count = kWaiting + 1; count > kWaiting;) {
    count = 0;
#pragma unroll
    for (std::int32_t group = 0; group < kOwn; group += 4) {
      const float top = fmaxf(fmaxf(x[group], x[group + 1]), fmaxf(x[group + 2], x[group + 3]));
      if (!__any_sync(kFullWarp, rank_of(top) >= bound)) continue;
#pragma unroll
      for (std::int32_t i = group; i < group + 4; ++i) {
        const Ranked own{rank_of(x[i]), column_of<T>(chunk, i)};
        const bool wanted = own.value >= bound && (taken >> i & 1u) == 0 && own.column < columns &&
                            before(own, best.last());
        const unsigned lanes = __ballot_sync(kFullWarp, wanted);
        const std::int32_t place = count + __popc(lanes & lower_lanes);
        if (wanted && place < kWaiting) {
          waiting[place] = own;
          taken |= 1u << i;
        }
        count += __popc(lanes);
      }
    }
    __syncwarp();
    for (std::int32_t first = 0; first < min(count, kWaiting); first += kWarp)
      best.take(first + lane < count ? waiting[first + lane] : Ranked());
    __syncwarp();
  }
}

template <typename T, std::int32_t kSlots>
__device__ void take_chunk(const float (&x)[kOwn], float own_top, std::int32_t columns,
                           std::int32_t chunk, WarpBest<kSlots>& best, Ranked* waiting) {
  float bound = best.last().value;
  if (best.last().column == Ranked::kNowhere)
    bound = fmaxf(bound, bound_of<kSlots>(own_top, best.k()));
  if (__any_sync(kFullWarp, own_top >= bound))
    take_candidates<T>(x, bound, columns, chunk, best, waiting);
}

// --- Rows ---

/// A row as the kernel finds it.
struct RowOfLogits {
  std::int64_t r;
  std::int32_t columns;
  std::int32_t chunks;
  std::int64_t first;  // element of the stored logits
  ExpSum* sums;
};

__device__ RowOfLogits row_of_logits(const Scan& scan, std::int64_t r) {
  RowOfLogits row{.r = r, .columns = scan.columns, .chunks = 0, .first = 0, .sums = scan.sums};
  if (scan.lists.pairs.begin) {
    row.first = scan.lists.pairs.begin[r];
    row.columns = static_cast<std::int32_t>(scan.lists.pairs.begin[r + 1] - row.first);
    row.sums += row.first / kBestChunk + r;  // As many as chunks of all pairs, and one more a row.
  }
  row.chunks = (row.columns + kBestChunk - 1) / kBestChunk;
  if (!scan.lists.pairs.begin) row.sums += r * scan.members * static_cast<std::int64_t>(row.chunks);
  return row;
}

/// Goes over the chunks first, first + step … of a row.
template <typename T, std::int32_t kSlots, bool kSums, bool kEnsemble>
__device__ void scan_chunks(const Scan& scan, const Members<T>& members, const RowOfLogits& row,
                            std::int32_t first, std::int32_t last, std::int32_t step,
                            WarpBest<kSlots>& best, Ranked* waiting) {
  for (std::int32_t chunk = first; chunk < last; chunk += step) {
    float x[kOwn];
    float ranked[kOwn] = {};
    float own_top = kLowest;
    for (std::int32_t m = 0; m < (kEnsemble ? scan.members : 1); ++m) {
      const Logits<T>& member = members.at[m];
      const T* logits = row_of(member.stored, row.r);
      load_chunk(logits ? logits + row.first : nullptr, row.columns, chunk, x);
      if (member.bias) add_bias<T>(member.bias, row.columns, chunk, x);
      own_top = largest(x);
      if (kSums) {
        const ExpSum sum = sum_of_chunk(x, own_top);
        if (lane_of_thread() == 0) row.sums[m * row.chunks + chunk] = sum;
      }
      if (kEnsemble) {
#pragma unroll
        for (std::int32_t i = 0; i < kOwn; ++i) {
          const float weighted = __fmul_rn(x[i], member.weight);
          ranked[i] = m == 0 ? weighted : __fadd_rn(ranked[i], weighted);
        }
      }
    }
    if (kEnsemble)
      take_chunk<T>(ranked, largest(ranked), row.columns, chunk, best, waiting);
    else
      take_chunk<T>(x, own_top, row.columns, chunk, best, waiting);
  }
}

__device__ RowEnd end_of(const Scan& scan, const RowOfLogits& row) {
  RowEnd end{.log_softmax = scan.log_softmax, .columns = row.columns};
  if (scan.lists.words && row.columns > 0)
    end.words = scan.lists.words + scan.lists.right[row.first];
  return end;
}

/// A block for each row and shard of its columns; its warps take chunks in turn.
template <typename T, std::int32_t kSlots, bool kSums, bool kEnsemble>
__global__ void __launch_bounds__(kBestWarps* kWarp, kEnsemble ? 2 : 3)
    scan_rows(Scan scan, Members<T> members) {
  const std::int64_t r = blockIdx.x;
  if (r >= *scan.rows.live) return;
  const auto warp = static_cast<std::int32_t>(threadIdx.x) / kWarp;
  const auto warps = static_cast<std::int32_t>(blockDim.x) / kWarp;
  Ranked* lists = dynamic_shared<Ranked>();
  Ranked* waiting = lists + warps * scan.k + warp * kWaiting;
  const RowOfLogits row = row_of_logits(scan, r);
  const auto shard = static_cast<std::int32_t>(blockIdx.y);
  const std::int32_t first =
      static_cast<std::int32_t>(std::int64_t{row.chunks} * shard / scan.shards);
  const std::int32_t last =
      static_cast<std::int32_t>(std::int64_t{row.chunks} * (shard + 1) / scan.shards);

  WarpBest<kSlots> best(scan.k);
  scan_chunks<T, kSlots, kSums, kEnsemble>(scan, members, row, first + warp, last, warps, best,
                                           waiting);
  best.for_each(
      [&](std::int32_t rank, const Ranked& ranked) { lists[warp * scan.k + rank] = ranked; });
  __syncthreads();
  if (warp > 0) return;
  for (std::int32_t other = 1; other < warps; ++other) best.take_list(lists + other * scan.k);
  if (scan.shards > 1) {
    Ranked* list = scan.ranks + (r * scan.shards + shard) * scan.k;
    best.for_each([&](std::int32_t rank, const Ranked& ranked) { list[rank] = ranked; });
    return;
  }
  RowEnd end = end_of(scan, row);
  for (std::int32_t m = 0; kSums && m < scan.members; ++m)
    add_member(end, total_of({row.sums + m * row.chunks, 1, row.chunks}), members.at[m].weight);
  write_best(best, end, scan.out, r);
}

// --- Launches ---

template <typename T, std::int32_t kSlots>
auto kernel_for(const Scan& scan) {
  if (scan.members > 1) return scan_rows<T, kSlots, true, true>;
  return scan.log_softmax ? scan_rows<T, kSlots, true, false> : scan_rows<T, kSlots, false, false>;
}

template <typename T>
void launch_scan(cudaStream_t stream, const Scan& scan, const Members<T>& members,
                 std::int32_t warps) {
  const auto kernel = scan.k <= kWarp ? kernel_for<T, 1>(scan) : kernel_for<T, 2>(scan);
  const auto per_warp = static_cast<std::size_t>(scan.k + kWaiting) * sizeof(Ranked);
  launch(stream, kernel,
         {dim3(static_cast<unsigned>(scan.rows.most), static_cast<unsigned>(scan.shards)),
          dim3(static_cast<unsigned>(warps * kWarp)), static_cast<std::size_t>(warps) * per_warp},
         scan, members);
}

std::int32_t warps_for(std::int32_t chunks) { return std::clamp(chunks, 1, kBestWarps); }

}  // namespace

template <typename T>
void best_of_rows(cudaStream_t stream, const BestQuery& query, std::span<const Logits<T>> members,
                  const Workspace& workspace) {
  const auto count = static_cast<std::int32_t>(members.size());
  const std::int64_t rows = query.rows.most;
  const std::int32_t chunks = best_chunks(query.columns);
  check_best_query(query, count, workspace);
  Scan scan{
      .rows = query.rows,
      .columns = query.columns,
      .k = query.k,
      .members = count,
      .log_softmax = query.log_softmax,
      .shards = best_shards(rows, chunks),
      .lists = {},
      .out = query.out,
      .sums = reinterpret_cast<ExpSum*>(workspace.data),
      .ranks = reinterpret_cast<Ranked*>(workspace.data + best_sums_bytes(rows, chunks, count))};
  Members<T> all;
  std::copy(members.begin(), members.end(), all.at);
  launch_scan(stream, scan, all, warps_for((chunks + scan.shards - 1) / scan.shards));
  if (scan.shards == 1) return;
  Merge merge{.rows = query.rows,
              .k = query.k,
              .end = {.log_softmax = query.log_softmax, .columns = query.columns},
              .out = query.out,
              .lists = {.first = scan.ranks, .count = scan.shards, .row_stride = scan.shards},
              .sums = {.first = scan.sums,
                       .count = chunks,
                       .row_stride = std::int64_t{count} * chunks,
                       .member_stride = chunks},
              .members = count};
  for (std::int32_t m = 0; m < count; ++m) merge.weights[m] = all.at[m].weight;
  merge_best(stream, merge);
}

template void best_of_rows<float>(cudaStream_t, const BestQuery&, std::span<const Logits<float>>,
                                  const Workspace&);
template void best_of_rows<__nv_bfloat16>(cudaStream_t, const BestQuery&,
                                          std::span<const Logits<__nv_bfloat16>>, const Workspace&);
template void best_of_rows<__half>(cudaStream_t, const BestQuery&, std::span<const Logits<__half>>,
                                   const Workspace&);

void best_of_lists(cudaStream_t stream, const BestQuery& query, const float* logits,
                   const ListedWords& lists, const Workspace& workspace) {
  check_best_query(query, lists, workspace);
  const Scan scan{.rows = query.rows,
                  .columns = 0,
                  .k = query.k,
                  .members = 1,
                  .log_softmax = query.log_softmax,
                  .shards = 1,
                  .lists = lists,
                  .out = query.out,
                  .sums = reinterpret_cast<ExpSum*>(workspace.data),
                  .ranks = nullptr};
  Members<float> all;
  all.at[0].stored = {.data = logits, .stride = 0, .columns = 0};
  launch_scan(stream, scan, all, warps_for(best_chunks(lists.most_pairs)));
}

}  // namespace fuselage::cuda
