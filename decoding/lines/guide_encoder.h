#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "decoding/lines/line_encoder.h"
#include "fuselage/decoding/line_guide.h"
#include "fuselage/decoding/search_guide.h"
#include "text/terms/terminology.h"
#include "text/vocabulary.h"

namespace fuselage {

/// Turns guides of lines into words of the target vocabulary.
class GuideEncoder {
 public:
  struct Options {
    bool prefix_field = false;     ///< a line has a field with a prefix after its source texts
    bool term_fields = false;      ///< a line has a field for each term behind these
    std::size_t source_texts = 1;  ///< fields of the source
    std::size_t max_length = 1000;
    bool right_left = false;
    bool strict = false;
    bool texts = false;            ///< lines have the texts of the words of their prefixes
    std::string terminology = {};  ///< path; empty: none
  };

  /// Separates the forms of a term in its field.
  static constexpr std::string_view kFormSeparator = "|||";

  /// The vocabularies must outlive the encoder; a terminology is compared as `source` normalizes
  /// text. Throws Error for prefixes of a model that translates from right to left, and the errors
  /// of load_terminology.
  GuideEncoder(const Vocabulary& source, const Vocabulary& target, Options options);

  /// Lines have fields for their guides.
  bool reads_fields() const { return options_.prefix_field || options_.term_fields; }

  /// A line without the fields of its guide, and the guide; missing and empty fields are no
  /// prefix and no terms. `number`: of the line, from 0. Throws Error when there are too few
  /// fields, or too many.
  struct GuidedLine {
    std::string_view source;
    LineGuide guide;
  };
  GuidedLine split(std::string_view line, std::size_t number) const;

  /// The texts of a guide, and of the terminology for a line.
  LineContext context(const LineGuide& guide, std::string_view source) const;

  /// Adds to a line its guide in words, with the terms of the terminology that occur in its source
  /// text. Throws Error for a term that the vocabulary cannot spell, and as LineEncoder::encode
  /// does for the prefix.
  void encode(const LineGuide& guide, std::string_view source, std::size_t number,
              EncodedLine& line) const;

  /// By word: whether it goes on with the word before.
  std::vector<bool> continuations() const;

  /// Notes for the user on the terminology.
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  std::vector<Terminology::Occurrence> terms_in(std::string_view source) const;
  void load(const std::string& path, const Vocabulary& source);
  void add_prefix(const std::string& prefix, std::size_t number, EncodedLine& line) const;
  std::optional<WordIds> spell(std::string_view form) const;

  const Vocabulary& target_;
  Options options_;
  LineEncoder prefixes_;
  std::optional<Terminology> terminology_;
  std::vector<TermForms> entries_;  ///< of the terminology; without forms: it cannot be spelt
  std::vector<std::string> notes_;
};

}  // namespace fuselage
