#pragma once

#include <string>

#include "backends/cpu/weights/weight_cache.h"

namespace fuselage {

/// A cache for the inputs of its fuzzer, all of which are made from the same.
inline cpu::WeightCache weight_cache_in(const std::string& directory) {
  ContentHash content;
  content.add("fuzz");
  return {directory, content};
}

}  // namespace fuselage
