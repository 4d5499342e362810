#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/placeholders/replaced_text.h"
#include "text/placeholders/unwritten_parts.h"
#include "text/vocabulary.h"

namespace fuselage {

/// A part of a line that a model does not read, and the word that it reads in its place.
struct Placeholder {
  /// A character beside the part, without a space. The model reads a space between, but for others.
  enum class Beside : std::uint8_t { other, letter, number, en_dash, em_dash };

  std::string word;
  std::string text;  ///< the part, or its translation
  TextSpan place;    ///< of the part in the line
  Beside left = Beside::other, right = Beside::other;
};

/// What is given of a line and its translation besides the line.
struct LineContext {
  /// A place of the line, and its translation.
  struct Term {
    TextSpan place;
    std::string translation;
  };

  std::string translation;  ///< parts of it, whose words stay as they are
  std::vector<Term> terms;  ///< from the left to the right
};

/// Words of a model that stand for parts of a text which its vocabulary has no pieces for, such as
/// emoji and signs of currencies, or spells in bytes, and for addresses: they go through the model
/// as placeholders, and come back as they were (Luong et al. 2015, "Addressing the rare word
/// problem in neural machine translation", section 3, copies words by position instead).
class Placeholders {
 public:
  /// `words`, the preferred ones first, are words of both languages that the model copies. The
  /// vocabulary, which is that of the source, must outlive the object. Throws Error for a word that
  /// is empty, has spaces, or is unknown to the vocabulary or spelled in bytes, and for one that
  /// begins another.
  Placeholders(const Vocabulary& vocabulary, std::vector<std::string> words);

  /// A line with placeholders, those in it from the left to the right.
  struct Line {
    ReplacedText text;
    std::vector<Placeholder> used;
  };

  /// Puts placeholders into a line of valid UTF-8 whose words are `words`. A part that is a term
  /// comes back as its translation. Parts of longer terms stay, and those for which there is no
  /// further word that the line and its context have not themselves.
  Line put_into(std::string_view line, std::span<const WordId> words,
                const LineContext& context = {}) const;

 private:
  std::vector<std::string> free_words(std::string_view line, const LineContext& context) const;

  const Vocabulary& vocabulary_;
  UnwrittenParts parts_;
  std::vector<std::string> words_;
};

/// A translation with the texts of its placeholders. A word with Latin letters before it, or more
/// of them behind it than an ending has, is no placeholder. A text that ends in no letter has no
/// ending.
ReplacedText without_placeholders(std::string_view translation, std::span<const Placeholder> used);

/// The beginning of a translation with placeholders in the place of their texts, but of long ones;
/// as it is, if without_placeholders would not give it back.
std::string with_placeholders(std::string_view translation, std::span<const Placeholder> used);

}  // namespace fuselage
