#pragma once

#include <string>

#include "backends/cpu/weights/weight_cache.h"

namespace fuselage {

/// A cache for the fuzzer, whose inputs all have the same content hash.
inline cpu::WeightCache weight_cache_in(const std::string& directory) {
  ContentHash content;
  content.add("fuzz");
  return {directory, content};
}

}  // namespace fuselage
