#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuselage/decoding/translation.h"
#include "text/terms/translation_dictionary.h"
#include "text/vocabulary.h"

namespace fuselage {

/// Puts the aligned source words, or their translations, in the place of unknown words (Jean et al.
/// 2015, "On using very large target vocabulary for neural machine translation", section 3.3).
class UnknownReplacement {
 public:
  /// The vocabulary must outlive the object.
  UnknownReplacement(const Vocabulary& target, TranslationDictionary dictionary)
      : target_(target), dictionary_(std::move(dictionary)) {}

  /// The texts for the words of a hypothesis with its alignment, for Vocabulary::decode; empty if
  /// none is replaced. `source` has the texts of the source words, without the end symbol, and
  /// `prefix` those of words that the hypothesis was given: they are their own texts.
  std::vector<std::string> texts(const Hypothesis& hypothesis, std::span<const std::string> source,
                                 std::span<const std::string> prefix = {}) const;

 private:
  std::string_view aligned_word(std::span<const float> weights,
                                std::span<const std::string> source) const;

  const Vocabulary& target_;
  TranslationDictionary dictionary_;
};

}  // namespace fuselage
