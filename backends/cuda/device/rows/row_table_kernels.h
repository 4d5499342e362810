#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "backends/cuda/device/rows/device_rows.h"
#include "backends/cuda/device/rows/live_rows.h"
#include "graph/domain.h"

namespace fuselage::cuda {

// What the kernels of RowTables take by value, and how they are started.

/// Generated words up to this step, and which of two lists of ancestors is this step's.
struct RowProgress {
  std::int32_t prefixes;
  std::int32_t first_prefix;  ///< that is new in this step
  std::int32_t list;
};

/// What one kernel leaves for the next, and one step for the next.
struct RowScratch {
  RowProgress* progress;
  std::int32_t* parent;         ///< of each live row, counted within its sentence
  std::int32_t* parents;        ///< of each sentence
  std::int32_t* parents_begin;  ///< first one of each sentence
  std::int32_t* ancestors[2];   ///< prefix rows of the words of all live rows, newest last
  std::int32_t* ancestors_begin[2];
};

/// A few things that a kernel takes by value.
template <typename T, std::size_t kCapacity>
struct Few {
  static constexpr std::size_t kMost = kCapacity;
  T at[kCapacity];
  std::uint32_t count = 0;
};

struct RowCounts {
  DeviceCounts* counts;
  DomainKind kind;
};

enum class RowValue : std::uint8_t { position, parent, newest, word, previous, sentence };

/// An array with one element for each hypothesis or parent.
struct RowArray {
  std::int32_t* out;
  RowValue value;
};

struct PairArrays {
  DeviceCounts* counts = nullptr;
  std::int32_t* left = nullptr;
  std::int32_t* right = nullptr;
  std::int32_t* segments = nullptr;
  const std::int32_t* tokens_begin = nullptr;  ///< of each sentence, on the right; null: ancestors
  std::int32_t* begin = nullptr;               ///< first pair of each sentence
  bool of_parents = false;
  bool kept = false;  ///< no domain's: the ancestors that the next step begins with
};

/// As many arrays as the kernels that count and fill do at once.
struct RowArrays {
  Few<RowCounts, 8> counts;
  Few<RowArray, 12> arrays;
  Few<PairArrays, 8> pairs;
};

/// Numbers the distinct parents of each sentence, and begins a step.
void launch_find_parents(cudaStream_t stream, const LiveRows& live, const RowScratch& scratch);

/// Counts and fills all that `all` names, behind launch_find_parents().
void launch_fill_rows(cudaStream_t stream, const LiveRows& live, const RowScratch& scratch,
                      const RowArrays& all);

}  // namespace fuselage::cuda
