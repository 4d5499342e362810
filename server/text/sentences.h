#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "server/models/served_model.h"
#include "text/pages/page.h"

namespace fuselage {

/// How texts become sentences of a model.
PageReading page_reading(const ServedModel& model);

/// A sentence of a text.
struct PlacedSentence {
  TextSpan place;    ///< in the text
  std::string text;  ///< as the model reads it
};

/// The sentences of a text that have a letter, as translate_texts() finds them.
std::vector<PlacedSentence> placed_sentences(const ServedModel& model, std::string_view text);

/// Counts places in characters, as clients of all languages can, where the library counts bytes.
class CharacterPlaces {
 public:
  /// Of a text as it is.
  explicit CharacterPlaces(std::string_view text);
  /// Of a sentence as the model reads it, in the text that has it.
  CharacterPlaces(std::string_view text, TextSpan sentence);

  TextSpan of(TextSpan bytes) const;
  /// The whole text or sentence.
  TextSpan whole() const { return {before_, before_ + bytes_.size() - 1}; }

 private:
  std::size_t before_ = 0;          ///< characters of the text before the sentence
  std::vector<std::size_t> bytes_;  ///< where each character is as the model reads it, and the end
};

}  // namespace fuselage
