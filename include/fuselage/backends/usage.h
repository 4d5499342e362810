#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "fuselage/base/api.h"

namespace FUSELAGE_API fuselage {

/// Hit statistics of a table of frequent rows, summed over all workers.
struct TableUse {
  std::string product;       ///< the product whose rows it holds, by name in the model's graph
  std::int64_t rows = 0;     ///< in the table
  std::int64_t entries = 0;  ///< of the vocabulary
  std::uint64_t lookups = 0, hits = 0;
};

/// Memory of an executable and its workers, in bytes.
struct MemoryUse {
  std::size_t matrices = 0;         ///< packed for products
  std::size_t rows = 0;             ///< other weights: tables of rows to look up, and vectors
  std::string file;                 ///< the cache file that both are mapped from; empty: none
  std::vector<std::size_t> arenas;  ///< maximum size of each worker's values so far
};

}  // namespace fuselage
