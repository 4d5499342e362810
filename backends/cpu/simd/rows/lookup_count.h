#pragma once

#include <cstddef>

namespace fuselage::cpu {

/// Number of looked-up rows, and of table hits.
struct LookupCount {
  std::size_t lookups = 0, hits = 0;
};

}  // namespace fuselage::cpu
