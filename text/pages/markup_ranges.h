#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "text/pages/aligned_words.h"

namespace fuselage {

/// Words `begin` to `end` of a sentence or of a translation.
using WordRange = TextSpan;

/// A part of a sentence, and the part of the translation in which its markup is. Gives parts of
/// that to elements, none twice.
class MarkupRanges {
 public:
  /// The words must outlive the object.
  MarkupRanges(const AlignedWords& words, WordRange source, WordRange target)
      : words_(words), source_(source), target_(target) {}

  /// Takes the run of free words with the largest weight of `element`, less that of the other
  /// words; nothing if no free word is aligned with it.
  std::optional<WordRange> take(WordRange element);

  /// The place for markup before the source word `word`: the words before it are aligned with words
  /// before `word`, and those behind it with words behind, as far as possible: at the first
  /// such place, or the last one. Never within a taken run.
  std::size_t place(std::size_t word, bool last = false);

 private:
  float gain(std::size_t target, WordRange element) const;
  bool is_taken(std::size_t target) const {
    return !owners_.empty() && owners_[target - target_.begin] != 0;
  }
  bool is_within_taken(std::size_t place) const;

  const AlignedWords& words_;
  WordRange source_, target_;
  std::vector<std::size_t> owners_;  ///< of each target word the number of its run; 0: free
  std::size_t runs_ = 0;
  std::size_t last_word_ = static_cast<std::size_t>(-1), last_place_ = 0;  ///< of place()
};

}  // namespace fuselage
