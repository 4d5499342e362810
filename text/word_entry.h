#pragma once

#include <cstdint>
#include <string>

namespace fuselage {

/// Index of a word in a vocabulary, from 0.
using WordId = std::int32_t;

/// One word of a vocabulary.
struct WordEntry {
  WordId id = 0;
  std::string word;
};

}  // namespace fuselage
