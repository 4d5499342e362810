#include "backends/cuda/device/rows/row_table_kernels.h"
#include "backends/cuda/device/runtime/early_start.h"
#include "backends/cuda/device/runtime/launch.h"
#include "backends/cuda/device/runtime/prefix_sum.h"
#include "backends/cuda/device/runtime/thread_group.h"

namespace fuselage::cuda {
namespace {

constexpr std::int32_t kWarpsOfParents = 4;
constexpr std::uint32_t kFillThreads = 256;

/// The first live row of the sentence with the same parent as row h.
__device__ std::int32_t first_sibling(const LiveHypothesis* rows, std::int32_t begin,
                                      std::int32_t h) {
  if (rows[h].row < 0) return h;
  std::int32_t i = begin;
  while (rows[i].row != rows[h].row) ++i;
  return i;
}

/// Takes rows for the newest words of a sentence. A warp calls it.
__device__ void take_words(const LiveHypotheses& live, const RowScratch& scratch, std::int32_t s) {
  const std::int32_t begin = live.begin[s];
  const std::int32_t end = live.begin[s + 1];
  if (begin == end) return;
  const std::int32_t taken = live.rows[begin].length == 0 ? 0 : scratch.taken[s];
  for (std::int32_t h = begin + lane_id(); h < end; h += kWarpSize) {
    const std::int32_t at = taken + h - begin;
    scratch.newest[h] =
        scratch.pages.pages[scratch.pages.begin[s] + at / WordPages::kRows] + at % WordPages::kRows;
  }
  __syncwarp();
  if (lane_id() == 0) scratch.taken[s] = taken + end - begin;
}

/// Numbers the parents of each sentence in the order of their first hypotheses. A warp for each
/// sentence.
__global__ void find_parents(LiveHypotheses live, RowScratch scratch) {
  start_early();
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    RowProgress& progress = *scratch.progress;
    if (!scratch.pages.begin) {
      progress.first_prefix = progress.prefixes;
      progress.prefixes += live.begin[*live.sentences];
    }
    progress.list = 1 - progress.list;
  }
  const auto s = static_cast<std::int32_t>(blockIdx.x * kWarpsOfParents + threadIdx.x / kWarpSize);
  if (s >= *live.sentences) return;
  const std::int32_t lane = lane_id();
  const std::int32_t begin = live.begin[s];
  const std::int32_t end = live.begin[s + 1];
  std::int32_t parents = 0;
  for (std::int32_t start = begin; start < end; start += kWarpSize) {
    const std::int32_t h = start + lane;
    const bool first = h < end && first_sibling(live.rows, begin, h) == h;
    const std::uint32_t firsts = __ballot_sync(kFullWarpMask, first);
    if (first) scratch.parent[h] = parents + __popc(firsts & ((1u << lane) - 1));
    parents += __popc(firsts);
  }
  __syncwarp();
  for (std::int32_t h = begin + lane; h < end; h += kWarpSize) {
    const std::int32_t first = first_sibling(live.rows, begin, h);
    if (first != h) scratch.parent[h] = scratch.parent[first];
  }
  if (lane == 0) scratch.parents[s] = parents;
  if (scratch.pages.begin) take_words(live, scratch, s);
}

/// The sum of count(0) … count(s - 1), of the sentences before s. All threads of the block must
/// call it.
template <typename Count>
__device__ std::int32_t sum_before(std::int32_t s, const Count& count) {
  return prefix_sum(s, count, [](std::int32_t, std::int32_t) {});
}

__device__ std::int32_t parents_before(const RowScratch& scratch, std::int32_t s) {
  return sum_before(s, [&](std::int32_t before) { return scratch.parents[before]; });
}

__device__ void count_row_domains(const LiveHypotheses& live, const RowScratch& scratch,
                                  const FixedVector<RowCounts, 8>& domains, std::int32_t parents) {
  if (threadIdx.x >= domains.count) return;
  const std::int32_t hypotheses = live.begin[*live.sentences];
  const RowCounts& domain = domains.at[threadIdx.x];
  if (domain.kind == DomainKind::prefix && !scratch.pages.begin)
    *domain.counts = {scratch.progress->prefixes, scratch.progress->first_prefix, hypotheses};
  else if (domain.kind == DomainKind::parent)
    *domain.counts = {parents, 0, parents};
  else
    *domain.counts = {hypotheses, 0, hypotheses};
}

/// The pairs of a sentence: left rows, and right rows of each left row.
struct SentencePairs {
  std::int32_t lefts, rights;

  __device__ std::int32_t count() const { return lefts * rights; }
};

__device__ SentencePairs pairs_of(const PairArrays& pairs, const LiveHypotheses& live,
                                  const RowScratch& scratch, std::int32_t s) {
  const std::int32_t begin = live.begin[s];
  const std::int32_t hypotheses = live.begin[s + 1] - begin;
  SentencePairs result{pairs.of_parents ? scratch.parents[s] : hypotheses, 0};
  if (pairs.tokens_begin)
    result.rights = pairs.tokens_begin[s + 1] - pairs.tokens_begin[s];
  else if (hypotheses > 0)
    result.rights = min(live.rows[begin].length + 1, pairs.window);
  return result;
}

/// The prefix row of the newest word of hypothesis h.
__device__ std::int32_t newest_row(const RowScratch& scratch, std::int32_t h) {
  return scratch.pages.begin ? scratch.newest[h] : scratch.progress->first_prefix + h;
}

/// The prefix row of the i-th of `count` words of hypothesis h: its new row, or a row of its
/// parent.
__device__ std::int32_t ancestor(const LiveHypotheses& live, const RowScratch& scratch,
                                 std::int32_t h, std::int32_t i, std::int32_t count) {
  if (i == count - 1) return newest_row(scratch, h);
  const std::int32_t last = 1 - scratch.progress->list;
  return scratch.ancestors[last][scratch.ancestors_begin[last][live.rows[h].row] + i];
}

__device__ void fill_element(const RowArray& array, const LiveHypotheses& live,
                             const RowScratch& scratch, std::int32_t h, std::int32_t parent) {
  const LiveHypothesis& row = live.rows[h];
  switch (array.value) {
    case RowValue::position:
      array.out[h] = row.length;
      break;
    case RowValue::parent:
      array.out[h] = parent;
      break;
    case RowValue::newest:
      array.out[h] = newest_row(scratch, h);
      break;
    case RowValue::word:
      array.out[h] = row.word;
      break;
    case RowValue::previous:  // siblings write the same value
      array.out[parent] = row.row;
      break;
    case RowValue::sentence:
      array.out[parent] = row.sentence;
      break;
    case RowValue::neighbour: {
      const std::int64_t i = std::int64_t{row.length} + array.offset;
      array.out[h] =
          i < 0 ? -1 : ancestor(live, scratch, h, static_cast<std::int32_t>(i), row.length + 1);
      break;
    }
    case RowValue::entry: {
      const std::int64_t entry = std::int64_t{row.length} + array.offset;
      array.out[h] = static_cast<std::int32_t>(
          entry < 0 ? 0 : (entry > array.last ? std::int64_t{array.last} : entry));
      break;
    }
  }
}

__device__ void fill_arrays(const LiveHypotheses& live, const RowScratch& scratch,
                            const RowArrays& all, std::int32_t s) {
  const std::int32_t first_parent = parents_before(scratch, s);
  if (s == *live.sentences - 1)
    count_row_domains(live, scratch, all.counts, first_parent + scratch.parents[s]);
  const std::int32_t begin = live.begin[s];
  const std::int32_t rows = live.begin[s + 1] - begin;
  for (auto i = static_cast<std::int32_t>(threadIdx.x);
       i < rows * static_cast<std::int32_t>(all.arrays.count);
       i += static_cast<std::int32_t>(blockDim.x)) {
    const std::int32_t h = begin + i % rows;
    fill_element(all.arrays.at[i / rows], live, scratch, h, first_parent + scratch.parent[h]);
  }
}

/// The right row of pair number `right` of a left row.
__device__ std::int32_t right_row(const PairArrays& pairs, const LiveHypotheses& live,
                                  const RowScratch& scratch, std::int32_t s, std::int32_t left,
                                  std::int32_t right, const SentencePairs& extent) {
  if (pairs.tokens_begin) {
    const std::int32_t at = pairs.tokens_begin[s] + right;
    return pairs.tokens ? pairs.tokens[at] : at;
  }
  const std::int32_t words = live.rows[left].length + 1;
  return ancestor(live, scratch, left, words - extent.rights + right, words);
}

__device__ void fill_pairs(const LiveHypotheses& live, const RowScratch& scratch, PairArrays pairs,
                           std::int32_t s) {
  if (pairs.kept) {
    pairs.right = scratch.ancestors[scratch.progress->list];
    pairs.segments = scratch.ancestors_begin[scratch.progress->list];
  }
  const SentencePairs extent = pairs_of(pairs, live, scratch, s);
  const std::int32_t begin = sum_before(
      s, [&](std::int32_t before) { return pairs_of(pairs, live, scratch, before).count(); });
  const std::int32_t first = pairs.of_parents ? parents_before(scratch, s) : live.begin[s];
  const auto thread = static_cast<std::int32_t>(threadIdx.x);
  const auto threads = static_cast<std::int32_t>(blockDim.x);
  // The last sentence also writes the end of the last row's pairs, and their number.
  const bool is_last = s == *live.sentences - 1;
  const std::int32_t ends = extent.lefts + (is_last ? 1 : 0);
  const std::int32_t total = begin + extent.count();
  if (is_last && thread == 0 && pairs.counts) *pairs.counts = {total, 0, total};
  if (pairs.segments)
    for (std::int32_t l = thread; l < ends; l += threads)
      pairs.segments[first + l] = begin + l * extent.rights;
  for (std::int32_t i = thread; i < extent.count(); i += threads) {
    const std::int32_t left = first + i / extent.rights;
    const std::int32_t right = i % extent.rights;
    if (pairs.left) pairs.left[begin + i] = left;
    if (pairs.right)
      pairs.right[begin + i] = right_row(pairs, live, scratch, s, left, right, extent);
    if (pairs.buckets) {
      const std::int32_t distance = right - (extent.rights - 1);
      pairs.buckets[begin + i] =
          pairs.distances.entries[max(distance, -pairs.distances.limit) + pairs.distances.limit];
    }
  }
}

/// Blocks in x for sentences. In y, block 0 fills the arrays of hypotheses and parents, each other
/// block the pairs of a domain. Each sums the rows of the sentences before its own, which takes
/// less time than a kernel that does so for all; the last sentence's block has the total.
__global__ void fill_rows(LiveHypotheses live, RowScratch scratch, RowArrays all) {
  start_early();
  const auto s = static_cast<std::int32_t>(blockIdx.x);
  if (s >= *live.sentences) return;
  if (blockIdx.y == 0)
    fill_arrays(live, scratch, all, s);
  else
    fill_pairs(live, scratch, all.pairs.at[blockIdx.y - 1], s);
}

}  // namespace

void launch_find_parents(cudaStream_t stream, const LiveHypotheses& live,
                         const RowScratch& scratch) {
  launch_early(stream, find_parents,
               {blocks_for(live.max_sentences, kWarpsOfParents), kWarpsOfParents * kWarpSize}, live,
               scratch);
}

void launch_fill_rows(cudaStream_t stream, const LiveHypotheses& live, const RowScratch& scratch,
                      const RowArrays& all) {
  const auto sentences = static_cast<std::uint32_t>(live.max_sentences);
  const std::uint32_t columns = 1 + all.pairs.count;
  launch_early(stream, fill_rows, {dim3(sentences, columns), kFillThreads}, live, scratch, all);
}

}  // namespace fuselage::cuda
