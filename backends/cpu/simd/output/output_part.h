#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace fuselage::cpu {

/// Columns per block of an output layer.
inline constexpr std::size_t kOutputBlock = 512;

/// A sum of exponentials of logits relative to the largest logit, in the lanes of LaneSum.
struct ExpSum {
  std::array<float, 16> lanes{};
  float top = -std::numeric_limits<float>::infinity();
};

/// Partial results of an output layer for some blocks of columns.
struct OutputPart {
  std::size_t first = 0, last = 0;  ///< the blocks first … last - 1
  float* values = nullptr;          ///< the k best [rows, k]; free places are -infinity
  std::int32_t* ids = nullptr;      ///< their columns, -1 in free places
  ExpSum* sums = nullptr;           ///< [last - first, rows], or null
};

}  // namespace fuselage::cpu
