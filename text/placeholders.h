#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/replaced_text.h"
#include "text/vocabulary.h"

namespace fuselage {

/// A part of a line that a model does not read, and the word that it reads in its place.
struct Placeholder {
  std::string word, text;
  bool joins_left = false, joins_right = false;  ///< to the letter beside it, without a space
};

/// Words of a model that stand for parts of a text which its vocabulary has no pieces for, such as
/// emoji and signs of currencies, or spells in bytes, and for addresses: they go through the model
/// as placeholders, and come back as they were (Luong et al. 2015, "Addressing the rare word
/// problem in neural machine translation", section 3, copies words by position instead).
class Placeholders {
 public:
  /// `words`, the preferred ones first, are words of both languages that the model copies. The
  /// vocabulary, which is that of the source, must outlive the object. Throws Error for a word that
  /// is empty, has spaces or is unknown to the vocabulary, and for one that begins another.
  Placeholders(const Vocabulary& vocabulary, std::vector<std::string> words);

  /// A line with placeholders, those in it from the left to the right.
  struct Line {
    ReplacedText text;
    std::vector<Placeholder> used;
  };

  /// Puts placeholders into a line of valid UTF-8 whose words are `words`. Parts for which there is
  /// no further word that the line has not itself stay.
  Line put_into(std::string_view line, std::span<const WordId> words) const;

 private:
  bool is_written(std::string_view cluster) const;
  bool is_written(std::span<const WordId> words) const;
  std::vector<TextSpan> parts_of_token(std::string_view line, TextSpan token) const;

  const Vocabulary& vocabulary_;
  std::vector<std::string> words_;
  std::vector<bool> is_written_;  ///< of each word of the vocabulary
};

/// A translation with the texts of its placeholders.
ReplacedText without_placeholders(std::string_view translation, std::span<const Placeholder> used);

}  // namespace fuselage
