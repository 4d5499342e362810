// The k best columns of rows and the normalizer of log-softmax in one read of the logits: the fused
// kernel of Hoang, Dwojak, Krislauks, Torregrosa, Heafield, "Fast Neural Machine Translation
// Implementation" (WNMT 2018), algorithms 4 to 6. The paper rescales the sum of exponentials
// whenever the maximum grows. Here each chunk of columns has its own maximum and sum, and the
// chunks are merged at the end in a fixed order, so a row's bits do not depend on the number of
// blocks that share it.

#include <algorithm>

#include "backends/cuda/device/output/k_best.h"
#include "backends/cuda/device/output/k_best_epilogue.h"
#include "backends/cuda/device/output/logit_chunk.h"
#include "backends/cuda/device/output/softmax_normalizer.h"
#include "backends/cuda/device/runtime/launch.h"
#include "backends/cuda/device/runtime/shared_memory.h"

namespace fuselage::cuda {
namespace {

// Capacity of a warp's queue of candidates.
constexpr std::int32_t kQueue = 64;

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

/// A lower bound of the chunk's k-th best logit: the k-th best of the lanes' maxima.
template <std::int32_t kSlots>
__device__ float bound_of(float lane_max, std::int32_t k) {
  if (kSlots > 1) return kLowest;
  return __shfl_sync(kFullWarpMask, sort_lanes(lane_max), k - 1);
}

/// Inserts the chunk's logits that reach `bound`. They are few, so they are queued and inserted a
/// warp at a time.
template <typename T, std::int32_t kSlots>
__device__ void insert_candidates(const float (&x)[kLogitsPerLane], float bound,
                                  std::int32_t columns, std::int32_t chunk, WarpBest<kSlots>& best,
                                  Ranked* queue) {
  const std::int32_t lane = lane_id();
  const unsigned lower_lanes = (1u << lane) - 1;
  std::uint32_t queued = 0;  // bits of the lane's logits
  for (std::int32_t count = kQueue + 1; count > kQueue;) {
    count = 0;
#pragma unroll
    for (std::int32_t group = 0; group < kLogitsPerLane; group += 4) {
      const float max = fmaxf(fmaxf(x[group], x[group + 1]), fmaxf(x[group + 2], x[group + 3]));
      if (!__any_sync(kFullWarpMask, rank_of(max) >= bound)) continue;
#pragma unroll
      for (std::int32_t i = group; i < group + 4; ++i) {
        const Ranked own{rank_of(x[i]), column_of<T>(chunk, i)};
        const bool wanted = own.value >= bound && (queued >> i & 1u) == 0 && own.column < columns &&
                            before(own, best.last());
        const unsigned lanes = __ballot_sync(kFullWarpMask, wanted);
        const std::int32_t position = count + __popc(lanes & lower_lanes);
        if (wanted && position < kQueue) {
          queue[position] = own;
          queued |= 1u << i;
        }
        count += __popc(lanes);
      }
    }
    __syncwarp();
    for (std::int32_t first = 0; first < min(count, kQueue); first += kWarpSize)
      best.insert_lanes(first + lane < count ? queue[first + lane] : Ranked());
    __syncwarp();
  }
}

template <typename T, std::int32_t kSlots>
__device__ void insert_chunk(const float (&x)[kLogitsPerLane], float lane_max, std::int32_t columns,
                             std::int32_t chunk, WarpBest<kSlots>& best, Ranked* queue) {
  float bound = best.last().value;
  if (best.last().column == Ranked::kNowhere)
    bound = fmaxf(bound, bound_of<kSlots>(lane_max, best.k()));
  if (__any_sync(kFullWarpMask, lane_max >= bound))
    insert_candidates<T>(x, bound, columns, chunk, best, queue);
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

/// Reads chunks first, first + step … before `last` of a row.
template <typename T, std::int32_t kSlots, bool kNormalizes, bool kEnsemble>
__device__ void read_chunks(const Query& query, const Members<T>& members, const LogitRow& row,
                            std::int32_t first, std::int32_t last, std::int32_t step,
                            WarpBest<kSlots>& best, Ranked* queue) {
  for (std::int32_t chunk = first; chunk < last; chunk += step) {
    float x[kLogitsPerLane];
    float ranked[kLogitsPerLane] = {};
    float lane_max = kLowest;
    for (std::int32_t m = 0; m < (kEnsemble ? query.members : 1); ++m) {
      const Logits<T>& member = members.at[m];
      const T* logits = row_of(member.stored, row.r);
      load_chunk(logits ? logits + row.first : nullptr, row.columns, chunk, x);
      if (member.bias) add_bias<T>(member.bias, row.columns, chunk, x);
      lane_max = max_of(x);
      if (kNormalizes) {
        const SoftmaxNormalizer normalizer = normalizer_of_chunk(x, lane_max);
        if (lane_id() == 0) row.normalizers[m * row.chunks + chunk] = normalizer;
      }
      if (kEnsemble) {
#pragma unroll
        for (std::int32_t i = 0; i < kLogitsPerLane; ++i) {
          const float weighted = __fmul_rn(x[i], member.weight);
          ranked[i] = m == 0 ? weighted : __fadd_rn(ranked[i], weighted);
        }
      }
    }
    if (kEnsemble)
      insert_chunk<T>(ranked, max_of(ranked), row.columns, chunk, best, queue);
    else
      insert_chunk<T>(x, lane_max, row.columns, chunk, best, queue);
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
__global__ void __launch_bounds__(kBestWarps* kWarpSize, kEnsemble ? 2 : 3)
    k_best_kernel(Query query, Members<T> members) {
  const std::int64_t r = blockIdx.x;
  if (r >= *query.rows.live) return;
  const auto warp = static_cast<std::int32_t>(threadIdx.x) / kWarpSize;
  const auto warps = static_cast<std::int32_t>(blockDim.x) / kWarpSize;
  Ranked* lists = dynamic_shared<Ranked>();
  Ranked* queue = lists + warps * query.k + warp * kQueue;
  const LogitRow row = logit_row(query, r);
  const auto shard = static_cast<std::int32_t>(blockIdx.y);
  const std::int32_t first =
      static_cast<std::int32_t>(std::int64_t{row.chunks} * shard / query.shards);
  const std::int32_t last =
      static_cast<std::int32_t>(std::int64_t{row.chunks} * (shard + 1) / query.shards);

  WarpBest<kSlots> best(query.k);
  read_chunks<T, kSlots, kNormalizes, kEnsemble>(query, members, row, first + warp, last, warps,
                                                 best, queue);
  best.for_each(
      [&](std::int32_t rank, const Ranked& ranked) { lists[warp * query.k + rank] = ranked; });
  __syncthreads();
  if (warp > 0) return;
  for (std::int32_t other = 1; other < warps; ++other) best.insert_list(lists + other * query.k);
  if (query.shards > 1) {
    Ranked* list = query.lists + (r * query.shards + shard) * query.k;
    best.for_each([&](std::int32_t rank, const Ranked& ranked) { list[rank] = ranked; });
    return;
  }
  KBestEpilogue epilogue = epilogue_of(query, row);
  for (std::int32_t m = 0; kNormalizes && m < query.members; ++m)
    add_member(epilogue, merge_normalizers({row.normalizers + m * row.chunks, 1, row.chunks}),
               members.at[m].weight);
  write_best(best, epilogue, query.out, r);
}

__global__ void count_kernel(Rows rows, std::int32_t size, std::int32_t chunks,
                             std::int32_t* counts) {
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
  const auto per_warp = static_cast<std::size_t>(query.k + kQueue) * sizeof(Ranked);
  launch(
      stream, kernel,
      {dim3(static_cast<unsigned>(query.rows.max_live), static_cast<unsigned>(query.shards)),
       dim3(static_cast<unsigned>(warps * kWarpSize)), static_cast<std::size_t>(warps) * per_warp},
      query, members);
}

std::int32_t warps_for(std::int32_t chunks) { return std::clamp(chunks, 1, kBestWarps); }

}  // namespace

void count_live_rows(cudaStream_t stream, const Rows& rows, std::int32_t size,
                     std::int32_t* counts) {
  constexpr std::uint32_t kThreads = 128;
  const auto chunks = static_cast<std::int32_t>(blocks_for(rows.max_live, size));
  launch(stream, count_kernel, {dim3(blocks_for(chunks, kThreads)), dim3(kThreads)}, rows, size,
         chunks, counts);
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
                   .lists = {.first = lists, .count = shards, .row_stride = shards},
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
