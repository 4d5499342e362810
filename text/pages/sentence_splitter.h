#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "text/text_span.h"

namespace fuselage {

/// Finds the sentences of a text: by the rules of Unicode (UAX 29), the abbreviations of the
/// language, and rules for initials, ordinal numbers, marks of lists, quotes and addresses.
/// Immutable, so threads may share it.
class SentenceSplitter {
 public:
  /// `language` is a code such as "en", "eng", "de-AT", "deu_Latn". One that is unknown or empty
  /// has the rules that all languages share.
  explicit SentenceSplitter(std::string_view language = {});
  ~SentenceSplitter();

  /// The sentences of a paragraph, in order, without the white space around them. All bytes between
  /// them are white space. Line breaks are spaces. Takes linear time.
  std::vector<TextSpan> split(std::string_view paragraph) const;

 private:
  class Impl;
  std::unique_ptr<const Impl> impl_;
};

}  // namespace fuselage
