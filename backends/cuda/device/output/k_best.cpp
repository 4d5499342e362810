#include "backends/cuda/device/output/k_best.h"

#include <algorithm>

#include "backends/cuda/device/runtime/launch.h"
#include "fuselage/base/error.h"

namespace fuselage::cuda {
namespace {

void check_count(std::int32_t k) {
  check(k > 0 && k <= kMaxBest, "k_best: k must be from 1 to kMaxBest");
}

/// The largest number of shards with a chunk for each warp.
std::int64_t max_shards(std::int32_t chunks) {
  return std::max((chunks + kBestWarps - 1) / kBestWarps, 1);
}

}  // namespace

std::int32_t best_shards(std::int64_t rows, std::int32_t chunks) {
  const std::int64_t most = kBestBlocks / std::max<std::int64_t>(rows, 1);
  // In rounds, in which each warp of a block reads a chunk: about 1 us. A block takes about half of
  // one more to begin and one to end, and a second launch merges shards.
  constexpr double kBlock = 1.5, kMerge = 3;
  const auto time = [&](std::int64_t shards) {
    const std::int64_t of_warp = (chunks + shards * kBestWarps - 1) / (shards * kBestWarps);
    return static_cast<double>(of_warp) + kBlock + (shards > 1 ? kMerge : 0);
  };
  std::int64_t best = 1;
  for (std::int64_t shards = 2; shards <= std::min(most, max_shards(chunks)); ++shards)
    if (time(shards) < time(best)) best = shards;
  return static_cast<std::int32_t>(best);
}

std::size_t best_normalizers_bytes(std::int64_t rows, std::int32_t chunks, std::int32_t members) {
  return static_cast<std::size_t>(rows * chunks * members) * sizeof(SoftmaxNormalizer);
}

std::size_t best_of_rows_bytes(std::int64_t rows, std::int32_t columns, std::int32_t k,
                               std::int32_t members) {
  const std::int32_t chunks = best_chunks(columns);
  // Fewer rows may have more lists, since more blocks share a row, but no more than this bound.
  const std::int64_t lists = std::min(rows * max_shards(chunks), std::max(rows, kBestBlocks));
  return best_normalizers_bytes(rows, chunks, members) +
         static_cast<std::size_t>(lists * k) * sizeof(Ranked);
}

std::size_t best_of_lists_bytes(std::int64_t rows, std::int32_t max_pairs) {
  return best_normalizers_bytes(rows + max_pairs / kBestChunk + 1, 1, 1);
}

void check_best_query(const BestQuery& query, std::int32_t members, const Workspace& workspace) {
  check_count(query.k);
  check(members > 0 && members <= static_cast<std::int32_t>(kMaxMembers) &&
            (members == 1 || query.log_softmax),
        "best_of_rows: no members, more than kMaxMembers, or several without log-softmax");
  check(workspace.bytes >= best_of_rows_bytes(query.rows.max_live, query.columns, query.k, members),
        "best_of_rows: the workspace is too small");
}

void check_best_query(const BestQuery& query, const ShortlistWords& lists,
                      const Workspace& workspace) {
  check_count(query.k);
  check(workspace.bytes >= best_of_lists_bytes(query.rows.max_live, lists.max_pairs),
        "best_of_lists: the workspace is too small");
}

}  // namespace fuselage::cuda
