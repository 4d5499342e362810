#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "backends/cuda/device/rows/device_rows.h"
#include "backends/cuda/device/rows/live_hypotheses.h"
#include "fuselage/graph/domain.h"

namespace fuselage::cuda {

// The kernels of RowTables and their parameters, passed by value.

/// The prefix rows so far, and the number of this step's list of ancestors (0 or 1).
struct RowProgress {
  std::int32_t prefixes;
  std::int32_t first_prefix;  ///< first new row of this step
  std::int32_t list;
};

/// The rows of a store for the words of sentences that come and go. Each sentence has pages, enough
/// for its longest search.
struct WordPages {
  static constexpr std::int32_t kRows = 16;  ///< of a page

  const std::int32_t* begin = nullptr;  ///< first page of each sentence, among `pages`
  const std::int32_t* pages = nullptr;  ///< first row of each page
};

/// State that is passed between kernels and between steps.
struct RowScratch {
  RowProgress* progress;
  std::int32_t* parent;        ///< parent of each live row, counted within its sentence
  std::int32_t* parents;       ///< number of parents of each sentence
  std::int32_t* ancestors[2];  ///< prefix rows of the words of each live row, newest last
  std::int32_t* ancestors_begin[2];
  WordPages pages;       ///< null: rows of new words are behind those of earlier steps
  std::int32_t* taken;   ///< of `pages`: rows that each sentence has taken
  std::int32_t* newest;  ///< of `pages`: the row of each live row's newest word
};

/// A vector of bounded size.
template <typename T, std::size_t kSize>
struct FixedVector {
  static constexpr std::size_t kCapacity = kSize;
  T at[kCapacity];
  std::uint32_t count = 0;
};

struct RowCounts {
  DeviceCounts* counts;
  DomainKind kind;
};

enum class RowValue : std::uint8_t {
  position,
  parent,
  newest,
  word,
  previous,
  sentence,
  neighbour,  ///< the prefix row `-offset` words before the newest; -1: none
  entry,      ///< the position plus `offset`, limited to 0 … last
};

/// An array with one element for each hypothesis or parent.
struct RowArray {
  std::int32_t* out;
  RowValue value;
  std::int32_t offset = 0;
  std::int32_t last = 0;
};

/// Entries of distances: a DistanceTable in device memory.
struct DistanceEntries {
  const std::int32_t* entries = nullptr;
  std::int32_t limit = 0;
};

struct PairArrays {
  static constexpr std::int32_t kNoWindow = 0x7fffffff;

  DeviceCounts* counts = nullptr;
  std::int32_t* left = nullptr;
  std::int32_t* right = nullptr;
  std::int32_t* segments = nullptr;
  /// First right row of each sentence; null: the right rows are ancestors.
  const std::int32_t* tokens_begin = nullptr;
  const std::int32_t* tokens = nullptr;  ///< by position from there on: the rows; null: adjacent
  std::int32_t window = kNoWindow;       ///< most ancestors of a left row, the newest ones
  std::int32_t* buckets = nullptr;       ///< the entry of each pair's distance
  DistanceEntries distances;             ///< for `buckets`
  bool of_parents = false;               ///< left rows are parents, not hypotheses
  bool kept = false;  ///< not of a domain: the list of ancestors for the next step
};

/// The arrays of one launch.
struct RowArrays {
  FixedVector<RowCounts, 8> counts;
  FixedVector<RowArray, 12> arrays;
  FixedVector<PairArrays, 8> pairs;
};

/// Begins a step: numbers the distinct parents of each sentence.
void launch_find_parents(cudaStream_t stream, const LiveHypotheses& live,
                         const RowScratch& scratch);

/// Counts and fills the arrays of `all`, after launch_find_parents().
void launch_fill_rows(cudaStream_t stream, const LiveHypotheses& live, const RowScratch& scratch,
                      const RowArrays& all);

}  // namespace fuselage::cuda
