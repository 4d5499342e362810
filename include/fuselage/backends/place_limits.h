#pragma once

#include <cstdint>

#include "fuselage/base/api.h"

namespace FUSELAGE_API fuselage {

/// The size of a store in which sentences come and go (Worker::open). A sentence has a place, rows
/// for its source tokens in whole pages, and a row for each word of each of its hypotheses.
struct PlaceLimits {
  /// Rows of a page of source tokens. A sentence's pages need not be adjacent.
  static constexpr std::int64_t kPageRows = 16;

  std::int32_t sentences = 1;    ///< places
  std::int32_t hypotheses = 1;   ///< maximum live hypotheses of a sentence
  std::int64_t source_rows = 0;  ///< of each source text, a multiple of kPageRows
  std::int64_t words = 0;        ///< of all hypotheses of all sentences together

  friend bool operator==(const PlaceLimits&, const PlaceLimits&) = default;

  /// The rows that `tokens` source tokens of a sentence take.
  static constexpr std::int64_t rows_for(std::int64_t tokens) {
    return (tokens + kPageRows - 1) / kPageRows * kPageRows;
  }
};

}  // namespace fuselage
