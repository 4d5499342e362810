#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "text/pages/text_alignment.h"

namespace fuselage {

/// The words of a sentence and of its translation, and how they are aligned.
class AlignedWords {
 public:
  /// Words of the sentence are also cut at `places`, in ascending order. Without an alignment, a
  /// word of the translation is aligned with the same part of the sentence.
  AlignedWords(std::string_view sentence, std::span<const std::size_t> places,
               std::string_view translation, const TextAlignment& alignment);

  const std::vector<TextSpan>& source() const { return source_; }
  const std::vector<TextSpan>& target() const { return target_; }

  /// The first word of the sentence that begins at `place` or later.
  std::size_t source_word(std::size_t place) const;

  /// The weight of the words `from` to `to` of the sentence for a word of the translation.
  float weight(std::size_t target, std::size_t from, std::size_t to) const;

 private:
  void add_row(const TextSpan& word, const TextAlignment& alignment, std::size_t& first_token);

  std::vector<TextSpan> source_, target_;
  /// For each word of the translation the sums of the weights of the first 0, 1, … source words;
  /// empty without an alignment.
  std::vector<float> sums_;
};

}  // namespace fuselage
