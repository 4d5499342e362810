#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fuselage/backends/batch.h"
#include "fuselage/base/api.h"

namespace FUSELAGE_API fuselage {

/// The forms of a term, each a sequence of words; one of them has to occur.
using TermForms = std::vector<WordIds>;

/// The terms of a sentence, and the words of all their forms, are at most so many.
inline constexpr std::size_t kMaxTerms = 64;
inline constexpr std::size_t kMaxTermWords = 4096;

/// Demands on the translations of a sentence.
struct SearchGuide {
  WordIds prefix = {};                ///< words that all hypotheses begin with
  std::vector<TermForms> terms = {};  ///< terms that hypotheses contain, in any order
  std::int32_t beam_size = 0;         ///< at most that of the search; 0: that one
  std::int32_t n_best = 0;            ///< at most the beam; 0: that of the search, at most the beam

  bool empty() const { return prefix.empty() && terms.empty() && beam_size == 0 && n_best == 0; }
};

}  // namespace fuselage
