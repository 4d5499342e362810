#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "backends/cuda/device/kernel/kernel.h"
#include "backends/cuda/device/output/ranked.h"
#include "backends/cuda/device/runtime/rows.h"
#include "backends/cuda/limits.h"

namespace fuselage::cuda {

/// Logits of one model: those that are stored, float, bf16 or f16, and a bias.
template <typename T>
struct Logits {
  RowsOf<T> stored;
  const float* bias = nullptr;  ///< one number a column; null: none
  float weight = 1;             ///< in the sum that several models are ranked by
};

/// The words of shortlists. Row r has those of pairs.begin[r] … pairs.begin[r + 1] - 1; its stored
/// logits are the elements of these numbers, all in one row.
struct ListedWords {
  Segments pairs;
  const std::int32_t* right = nullptr;  ///< from pairs to entries of lists; those of a row follow
  const std::int32_t* words = nullptr;  ///< from these to columns; null: ids are numbers in the row
  std::int32_t most_pairs = 0;
};

/// The k best columns of rows, by logits or by the weighted sum of several models' log-softmax.
struct BestQuery {
  Rows rows;
  std::int32_t columns = 0;
  std::int32_t k = 0;  ///< at most kMaxBest
  bool log_softmax = false;
  BestOut out;
};

// How the kernels share the work: a warp goes over a chunk of columns at a time, and the chunks of
// a row are those of the warps of a block, or of several blocks where rows are few.
inline constexpr std::int32_t kBestChunk = 1024;
inline constexpr std::int32_t kBestWarps = 8;

inline std::int32_t best_chunks(std::int32_t columns) {
  return (columns + kBestChunk - 1) / kBestChunk;
}

/// Blocks for each of at most `rows` rows.
std::int32_t best_shards(std::int64_t rows, std::int32_t chunks);

/// Bytes for the sums of chunks.
std::size_t best_sums_bytes(std::int64_t rows, std::int32_t chunks, std::int32_t members);

/// Memory that launches take for at most `rows` rows each, however many those have.
std::size_t best_of_rows_bytes(std::int64_t rows, std::int32_t columns, std::int32_t k,
                               std::int32_t members);
std::size_t best_of_lists_bytes(std::int64_t rows, std::int32_t most_pairs);

// Throw Error for what the kernels cannot do, which their callers should know.
void check_best_query(const BestQuery& query, std::int32_t members, const Workspace& workspace);
void check_best_query(const BestQuery& query, const ListedWords& lists, const Workspace& workspace);

/// Bias, normalizer and the k best in one read of the logits. `members` are one or up to
/// kMaxMembers; several go with log_softmax alone.
template <typename T>
void best_of_rows(cudaStream_t stream, const BestQuery& query, std::span<const Logits<T>> members,
                  const Workspace& workspace);

/// The same for the words of shortlists; ids are columns, if words are known. query.columns does
/// not count.
void best_of_lists(cudaStream_t stream, const BestQuery& query, const float* logits,
                   const ListedWords& lists, const Workspace& workspace);

}  // namespace fuselage::cuda
