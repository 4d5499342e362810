#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <limits>

#include "backends/cuda/device/runtime/rows.h"

namespace fuselage::cuda {

inline constexpr float kLowest = -std::numeric_limits<float>::infinity();

/// A value and the column where it stands. As it is here: what a list holds where it has nothing
/// yet, behind all that there is.
struct Ranked {
  static constexpr std::int32_t kNowhere = std::numeric_limits<std::int32_t>::max();

  float value = kLowest;
  std::int32_t column = kNowhere;
};

/// Whether a is better: larger, or of equal ones the one in the lower column.
__device__ inline bool before(const Ranked& a, const Ranked& b) {
  return a.value > b.value || (a.value == b.value && a.column < b.column);
}

/// Of some logits the largest one, passing over NaN, and the sum of their exponentials relative to
/// that, or to 0 while it is -infinity.
struct ExpSum {
  float top = kLowest;
  float sum = 0;
};

/// Where the k best of each row go: values, best first, and ids.
struct BestOut {
  RowsOut values;
  ResultOf<std::int32_t> ids;
};

/// What is to be known of a row before its best become results.
struct RowEnd {
  bool log_softmax = false;
  std::int32_t columns = 0;
  const std::int32_t* words = nullptr;  ///< ids of the columns; null: their numbers
  float tops = 0, logs = 0;  ///< largest logits and logarithms of sums, weighted, of all members
};

}  // namespace fuselage::cuda
