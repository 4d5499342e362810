// The k best columns of rows and the normalizer of log-softmax in one read of the logits: the fused
// kernel of Hoang, Dwojak, Krislauks, Torregrosa, Heafield, "Fast Neural Machine Translation
// Implementation" (WNMT 2018), algorithms 4 to 6. The paper rescales the sum of exponentials
// whenever the maximum grows. Here each chunk of columns has its own maximum and sum, and the
// chunks are merged at the end in a fixed order, so a row's bits do not depend on the number of
// blocks that share it.
//
// Counts for a row of 30,000 f32 logits: 120 kB from memory, and its bias, 120 kB that all rows
// share in the caches. 8 warps with 4 kB on their way each while they rank, two blocks on each of
// 132 multiprocessors: 64 kB in flight on one, where 33 kB/us at 1 us suffice for 4.3 TB/s. About 9
// instructions for 32 logits (2 loads of 16 bytes for each 4, bias, maximum, 4 for the exponential,
// 1 to compare), 8,400 in all, and one of 16 lanes of the unit for exponentials: 1.3 us of 4
// schedulers and 1.1 us, beside 3.7 us of memory at the share of one multiprocessor. So the floor
// is memory. A row ends with two barriers, some 30 candidates that are ranked by counting, and 30
// normalizers: about 1.5 us, in which the other block of the multiprocessor reads. None of this is
// measured; the kernel before it, which inserted candidates one by one into lists, reached 60, 50
// and 33 % of the memory's roof for k = 1, 3, 9 on an H200.

#include <algorithm>

#include "backends/cuda/device/output/k_best.h"
#include "backends/cuda/device/output/k_best_epilogue.h"
#include "backends/cuda/device/output/logit_chunk.h"
#include "backends/cuda/device/output/softmax_normalizer.h"
#include "backends/cuda/device/runtime/early_start.h"
#include "backends/cuda/device/runtime/launch.h"
#include "backends/cuda/device/runtime/shared_memory.h"

namespace fuselage::cuda {
namespace {

struct Query {
  Rows rows;
  std::int32_t columns, k, members;
  bool log_softmax;
  std::int32_t shards;
  ShortlistWords words;
  BestOut out;
  SoftmaxNormalizer* normalizers;  // [row][member][chunk]
  Ranked* lists;                   // [row][shard][k], if there are several shards
};

template <typename T>
struct Members {
  Logits<T> at[kMaxMembers];
};

// --- Candidates of a chunk ---

/// Queues the chunk's logits that reach the bound of the k-th best.
template <typename T, std::int32_t kSlots>
__device__ void add_chunk(const float (&x)[kLogitsPerLane], float lane_max, std::int32_t columns,
                          std::int32_t chunk, WarpCandidates<kSlots>& candidates) {
  if (!candidates.reach(rank_of(lane_max))) return;
#pragma unroll
  for (std::int32_t group = 0; group < kLogitsPerLane; group += 4) {
    const float max = fmaxf(fmaxf(x[group], x[group + 1]), fmaxf(x[group + 2], x[group + 3]));
    if (!__any_sync(kFullWarpMask, rank_of(max) >= candidates.bound())) continue;
#pragma unroll
    for (std::int32_t i = group; i < group + 4; ++i) {
      const std::int32_t column = column_of<T>(chunk, i);
      candidates.add({rank_of(x[i]), column}, column < columns);
    }
  }
}

// --- Rows ---

/// The logits of a row, and the memory for its normalizers.
struct LogitRow {
  std::int64_t r;
  std::int32_t columns;
  std::int32_t chunks;
  std::int64_t first;  // element of the stored row
  SoftmaxNormalizer* normalizers;
};

__device__ LogitRow logit_row(const Query& query, std::int64_t r) {
  LogitRow row{
      .r = r, .columns = query.columns, .chunks = 0, .first = 0, .normalizers = query.normalizers};
  if (query.words.pairs.begin) {
    row.first = query.words.pairs.begin[r];
    row.columns = static_cast<std::int32_t>(query.words.pairs.begin[r + 1] - row.first);
    // Rows before this one have at most first / kBestChunk full chunks, and a partial one each.
    row.normalizers += row.first / kBestChunk + r;
  }
  row.chunks = (row.columns + kBestChunk - 1) / kBestChunk;
  if (!query.words.pairs.begin)
    row.normalizers += r * query.members * static_cast<std::int64_t>(row.chunks);
  return row;
}

/// The logits of a chunk of a member with their bias; their normalizer is stored. Returns the
/// largest of the lane.
template <typename T, bool kNormalizes>
__device__ float finish_chunk(const Logits<T>& member, std::int32_t m, const LogitRow& row,
                              std::int32_t chunk, float (&x)[kLogitsPerLane]) {
  if (member.bias) add_bias<T>(member.bias, row.columns, chunk, x);
  const float lane_max = max_of(x);
  if (kNormalizes) {
    const SoftmaxNormalizer normalizer = normalizer_of_chunk(x, lane_max);
    if (lane_id() == 0) row.normalizers[m * row.chunks + chunk] = normalizer;
  }
  return lane_max;
}

/// The row's logits of a member; null for zeros.
template <typename T>
__device__ const T* logits_of(const Logits<T>& member, const LogitRow& row) {
  const T* logits = row_of(member.stored, row.r);
  return logits ? logits + row.first : nullptr;
}

/// The chunks of a warp: first, first + step … before `last`.
struct Chunks {
  std::int32_t first, last, step;
};

/// Reads chunks of a row. The next chunk is on its way while one is ranked.
template <typename T, std::int32_t kSlots, bool kNormalizes>
__device__ void read_chunks(const Logits<T>& member, const LogitRow& row, const Chunks& chunks,
                            WarpCandidates<kSlots>& candidates) {
  const T* logits = logits_of(member, row);
  ChunkInFlight<T> next;
  if (chunks.first < chunks.last) next.begin(logits, row.columns, chunks.first);
  for (std::int32_t chunk = chunks.first; chunk < chunks.last; chunk += chunks.step) {
    float x[kLogitsPerLane];
    next.finish(logits, row.columns, chunk, x);
    if (chunk + chunks.step < chunks.last) next.begin(logits, row.columns, chunk + chunks.step);
    const float lane_max = finish_chunk<T, kNormalizes>(member, 0, row, chunk, x);
    add_chunk<T>(x, lane_max, row.columns, chunk, candidates);
  }
}

/// Reads chunks of a row of all members of an ensemble, and ranks their weighted sums.
template <typename T, std::int32_t kSlots>
__device__ void read_chunks_of_all(const Query& query, const Members<T>& members,
                                   const LogitRow& row, const Chunks& chunks,
                                   WarpCandidates<kSlots>& candidates) {
  for (std::int32_t chunk = chunks.first; chunk < chunks.last; chunk += chunks.step) {
    float ranked[kLogitsPerLane] = {};
    for (std::int32_t m = 0; m < query.members; ++m) {
      const Logits<T>& member = members.at[m];
      const T* logits = logits_of(member, row);
      ChunkInFlight<T> loads;
      float x[kLogitsPerLane];
      loads.begin(logits, row.columns, chunk);
      loads.finish(logits, row.columns, chunk, x);
      finish_chunk<T, true>(member, m, row, chunk, x);
#pragma unroll
      for (std::int32_t i = 0; i < kLogitsPerLane; ++i) {
        const float weighted = __fmul_rn(x[i], member.weight);
        ranked[i] = m == 0 ? weighted : __fadd_rn(ranked[i], weighted);
      }
    }
    add_chunk<T>(ranked, max_of(ranked), row.columns, chunk, candidates);
  }
}

__device__ KBestEpilogue epilogue_of(const Query& query, const LogitRow& row) {
  KBestEpilogue epilogue{.log_softmax = query.log_softmax, .columns = row.columns};
  if (query.words.words && row.columns > 0)
    epilogue.words = query.words.words + query.words.right[row.first];
  return epilogue;
}

/// A block for each row and shard of its columns. Warps read chunks round-robin.
template <typename T, std::int32_t kSlots, bool kNormalizes, bool kEnsemble>
__global__ void __launch_bounds__(kBestWarps* kWarpSize, 2)
    k_best_kernel(Query query, Members<T> members) {
  start_early();
  const std::int64_t r = blockIdx.x;
  if (r >= *query.rows.live) return;
  __shared__ float2 totals[kMaxMembers];  // maxima and sums of members
  const auto warp = static_cast<std::int32_t>(threadIdx.x) / kWarpSize;
  const auto warps = static_cast<std::int32_t>(blockDim.x) / kWarpSize;
  const LogitRow row = logit_row(query, r);
  const auto shard = static_cast<std::int32_t>(blockIdx.y);
  const Chunks chunks{
      static_cast<std::int32_t>(std::int64_t{row.chunks} * shard / query.shards) + warp,
      static_cast<std::int32_t>(std::int64_t{row.chunks} * (shard + 1) / query.shards), warps};
  const BlockBest block(dynamic_shared<Ranked>(), query.k);
  WarpCandidates<kSlots> candidates(block);
  if (kEnsemble)
    read_chunks_of_all<T>(query, members, row, chunks, candidates);
  else
    read_chunks<T, kSlots, kNormalizes>(members.at[0], row, chunks, candidates);
  candidates.close();
  __syncthreads();
  // The last warp, which has the fewest chunks; select() has a barrier.
  const bool is_whole = query.shards == 1;
  for (std::int32_t m = 0; kNormalizes && is_whole && warp == warps - 1 && m < query.members; ++m) {
    const SoftmaxNormalizer total =
        merge_normalizers({row.normalizers + m * row.chunks, 1, row.chunks});
    if (lane_id() == 0) totals[m] = {total.max, total.sum};
  }
  candidates.select();
  if (warp > 0) return;
  if (!is_whole) {
    Ranked* list = query.lists + (r * query.shards + shard) * query.k;
    for (std::int32_t rank = lane_id(); rank < query.k; rank += kWarpSize)
      list[rank] = block.sorted[rank];
    return;
  }
  KBestEpilogue epilogue = epilogue_of(query, row);
  for (std::int32_t m = 0; kNormalizes && m < query.members; ++m)
    add_member(epilogue, {totals[m].x, totals[m].y}, members.at[m].weight);
  write_best(block, epilogue, query.out, r);
}

__global__ void count_kernel(Rows rows, std::int32_t size, std::int32_t chunks,
                             std::int32_t* counts) {
  start_early();
  const auto chunk = static_cast<std::int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  if (chunk < chunks) counts[chunk] = max(min(*rows.live - chunk * size, size), 0);
}

// --- Launches ---

template <typename T, std::int32_t kSlots>
auto kernel_for(const Query& query) {
  if (query.members > 1) return k_best_kernel<T, kSlots, true, true>;
  return query.log_softmax ? k_best_kernel<T, kSlots, true, false>
                           : k_best_kernel<T, kSlots, false, false>;
}

template <typename T>
void launch_query(cudaStream_t stream, const Query& query, const Members<T>& members,
                  std::int32_t warps) {
  const auto kernel = query.k <= kWarpSize ? kernel_for<T, 1>(query) : kernel_for<T, 2>(query);
  launch_early(
      stream, kernel,
      {dim3(static_cast<unsigned>(query.rows.max_live), static_cast<unsigned>(query.shards)),
       dim3(static_cast<unsigned>(warps * kWarpSize)), block_best_bytes(warps, query.k)},
      query, members);
}

std::int32_t warps_for(std::int32_t chunks) { return std::clamp(chunks, 1, kBestWarps); }

}  // namespace

void count_live_rows(cudaStream_t stream, const Rows& rows, std::int32_t size,
                     std::int32_t* counts) {
  constexpr std::uint32_t kThreads = 128;
  const auto chunks = static_cast<std::int32_t>(blocks_for(rows.max_live, size));
  launch_early(stream, count_kernel, {dim3(blocks_for(chunks, kThreads)), dim3(kThreads)}, rows,
               size, chunks, counts);
}

template <typename T>
void best_of_rows(cudaStream_t stream, const BestQuery& query, std::span<const Logits<T>> members,
                  const Workspace& workspace) {
  const auto count = static_cast<std::int32_t>(members.size());
  const std::int64_t rows = query.rows.max_live;
  const std::int32_t chunks = best_chunks(query.columns);
  check_best_query(query, count, workspace);
  auto* normalizers = reinterpret_cast<SoftmaxNormalizer*>(workspace.data);
  auto* lists =
      reinterpret_cast<Ranked*>(workspace.data + best_normalizers_bytes(rows, chunks, count));
  const std::int32_t shards = best_shards(rows, chunks);
  Members<T> all;
  std::copy(members.begin(), members.end(), all.at);
  launch_query(stream,
               {.rows = query.rows,
                .columns = query.columns,
                .k = query.k,
                .members = count,
                .log_softmax = query.log_softmax,
                .shards = shards,
                .words = {},
                .out = query.out,
                .normalizers = normalizers,
                .lists = lists},
               all, warps_for((chunks + shards - 1) / shards));
  if (shards == 1) return;
  KBestParts parts{.rows = query.rows,
                   .k = query.k,
                   .epilogue = {.log_softmax = query.log_softmax, .columns = query.columns},
                   .out = query.out,
                   .lists = {.first = lists, .count = shards},
                   .normalizers = {.first = normalizers,
                                   .count = chunks,
                                   .row_stride = std::int64_t{count} * chunks,
                                   .member_stride = chunks},
                   .members = count};
  for (std::int32_t m = 0; m < count; ++m) parts.weights[m] = all.at[m].weight;
  merge_k_best(stream, parts);
}

template void best_of_rows<float>(cudaStream_t, const BestQuery&, std::span<const Logits<float>>,
                                  const Workspace&);
template void best_of_rows<__nv_bfloat16>(cudaStream_t, const BestQuery&,
                                          std::span<const Logits<__nv_bfloat16>>, const Workspace&);
template void best_of_rows<__half>(cudaStream_t, const BestQuery&, std::span<const Logits<__half>>,
                                   const Workspace&);

void best_of_lists(cudaStream_t stream, const BestQuery& query, const float* logits,
                   const ShortlistWords& lists, const Workspace& workspace) {
  check_best_query(query, lists, workspace);
  Members<float> only;
  only.at[0].stored = {.data = logits, .stride = 0, .columns = 0};
  launch_query(stream,
               {.rows = query.rows,
                .columns = 0,
                .k = query.k,
                .members = 1,
                .log_softmax = query.log_softmax,
                .shards = 1,
                .words = lists,
                .out = query.out,
                .normalizers = reinterpret_cast<SoftmaxNormalizer*>(workspace.data),
                .lists = nullptr},
               only, warps_for(best_chunks(lists.max_pairs)));
}

}  // namespace fuselage::cuda
