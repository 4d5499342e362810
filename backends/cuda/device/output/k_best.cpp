#include "backends/cuda/device/output/k_best.h"

#include <algorithm>

#include "backends/cuda/device/runtime/launch.h"
#include "base/error.h"

namespace fuselage::cuda {
namespace {

void check_count(std::int32_t k) {
  check(k > 0 && k <= kMaxBest, "k_best: so many of the best are not found");
}

/// So many that each warp of a block has a chunk.
std::int64_t most_shards(std::int32_t chunks) {
  return std::max((chunks + kBestWarps - 1) / kBestWarps, 1);
}

}  // namespace

std::int32_t best_shards(std::int64_t rows, std::int32_t chunks) {
  const std::int64_t wanted = (kBusyBlocks + rows - 1) / std::max<std::int64_t>(rows, 1);
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(wanted, 1, most_shards(chunks)));
}

std::size_t best_sums_bytes(std::int64_t rows, std::int32_t chunks, std::int32_t members) {
  return static_cast<std::size_t>(rows * chunks * members) * sizeof(ExpSum);
}

std::size_t best_of_rows_bytes(std::int64_t rows, std::int32_t columns, std::int32_t k,
                               std::int32_t members) {
  const std::int32_t chunks = best_chunks(columns);
  // Fewer rows may have more lists, as more blocks share each; but not more than these.
  const std::int64_t lists = std::min(rows * most_shards(chunks), rows + kBusyBlocks - 1);
  return best_sums_bytes(rows, chunks, members) +
         static_cast<std::size_t>(lists * k) * sizeof(Ranked);
}

std::size_t best_of_lists_bytes(std::int64_t rows, std::int32_t most_pairs) {
  return best_sums_bytes(rows + most_pairs / kBestChunk + 1, 1, 1);
}

void check_best_query(const BestQuery& query, std::int32_t members, const Workspace& workspace) {
  check_count(query.k);
  check(members > 0 && members <= static_cast<std::int32_t>(kMaxMembers) &&
            (members == 1 || query.log_softmax),
        "best_of_rows: no members, too many, or several without log-softmax");
  check(workspace.bytes >= best_of_rows_bytes(query.rows.most, query.columns, query.k, members),
        "best_of_rows: too little memory");
}

void check_best_query(const BestQuery& query, const ListedWords& lists,
                      const Workspace& workspace) {
  check_count(query.k);
  check(workspace.bytes >= best_of_lists_bytes(query.rows.most, lists.most_pairs),
        "best_of_lists: too little memory");
}

}  // namespace fuselage::cuda
