#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace fuselage::cpu {

/// Columns of an output layer that are taken in together.
inline constexpr std::size_t kOutputBlock = 512;

/// A sum of exponentials of logits, relative to the largest of them, in the lanes of a sum over a
/// row (LaneSum).
struct ExpSum {
  std::array<float, 16> lanes{};
  float top = -std::numeric_limits<float>::infinity();
};

/// Blocks of columns of an output layer, and what some rows' logits there come to.
struct OutputPart {
  std::size_t first = 0, last = 0;  ///< the blocks first … last - 1
  float* values = nullptr;          ///< the k best [rows, k]; free places are -infinity
  std::int32_t* ids = nullptr;      ///< their columns, -1 in free places
  ExpSum* sums = nullptr;           ///< [last - first, rows], or null
};

}  // namespace fuselage::cpu
