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

/// Logits of one model, of float, bf16 or f16.
template <typename T>
struct Logits {
  RowsOf<T> stored;
  const float* bias = nullptr;  ///< by column; null: none
  float weight = 1;             ///< in the weighted sum of an ensemble
};

/// The words of shortlists. Row r has the pairs pairs.begin[r] … pairs.begin[r + 1] - 1, and the
/// stored logit of pair p is element p.
struct ShortlistWords {
  Segments pairs;
  const std::int32_t* right = nullptr;  ///< from pairs to list entries; consecutive in a row
  const std::int32_t* words = nullptr;  ///< from list entries to columns; null: ids count from 0
  std::int32_t max_pairs = 0;
};

/// The k best of each row: values, best first, and ids; and its log sum exp where it is wanted.
struct BestOut {
  RowsOut values;
  ResultOf<std::int32_t> ids;
  RowsOut log_sums = {};  ///< data: null: not wanted
};

/// A query of the k best columns of rows, by logits or by the weighted sum of several models'
/// log-softmax.
struct BestQuery {
  Rows rows;
  std::int32_t columns = 0;
  std::int32_t k = 0;  ///< at most kMaxBest
  bool log_softmax = false;
  BestOut out;
};

// A warp reads a chunk of columns at a time. The chunks of a row are distributed over the warps of
// a block, or of several blocks (shards) where rows are few.
inline constexpr std::int32_t kBestChunk = 1024;
inline constexpr std::int32_t kBestWarps = 8;

/// Blocks that run at once on a GPU of 132 multiprocessors: two on each.
inline constexpr std::int64_t kBestBlocks = 264;

inline std::int32_t best_chunks(std::int32_t columns) {
  return (columns + kBestChunk - 1) / kBestChunk;
}

/// Blocks per row, for at most `rows` rows: the number of least time. More than one, each with less
/// of a row, only while all run at once.
std::int32_t best_shards(std::int64_t rows, std::int32_t chunks);

/// Bytes for the normalizers of chunks.
std::size_t best_normalizers_bytes(std::int64_t rows, std::int32_t chunks, std::int32_t members);

/// Workspace of launches for at most `rows` rows.
std::size_t best_of_rows_bytes(std::int64_t rows, std::int32_t columns, std::int32_t k,
                               std::int32_t members);
std::size_t best_of_lists_bytes(std::int64_t rows, std::int32_t max_pairs);

// Internal errors for queries that the kernels do not support.
void check_best_query(const BestQuery& query, std::int32_t members, const Workspace& workspace);
void check_best_query(const BestQuery& query, const ShortlistWords& lists,
                      const Workspace& workspace);

/// For queries of chunks of rows: counts the live rows of each chunk of `size` rows.
/// counts [rows.max_live / size, rounded up].
void count_live_rows(cudaStream_t stream, const Rows& rows, std::int32_t size,
                     std::int32_t* counts);

/// Bias, normalizer and the k best in one read of the logits, for up to kMaxMembers members of an
/// ensemble. More than one member needs query.log_softmax.
template <typename T>
void best_of_rows(cudaStream_t stream, const BestQuery& query, std::span<const Logits<T>> members,
                  const Workspace& workspace);

/// The k best of the words of shortlists. Ids are columns if lists.words is set. query.columns is
/// not read.
void best_of_lists(cudaStream_t stream, const BestQuery& query, const float* logits,
                   const ShortlistWords& lists, const Workspace& workspace);

}  // namespace fuselage::cuda
