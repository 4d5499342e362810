#pragma once

#include <span>
#include <string_view>

namespace fuselage {

/// Words of a language around full stops, separated by spaces, without the last full stop.
struct AbbreviationLists {
  std::string_view language;       ///< ISO 639-1
  std::string_view never_ends;     ///< FullStop::never_ends
  std::string_view before_number;  ///< FullStop::before_number
  std::string_view may_end;        ///< FullStop::may_end
  /// Words that sentences often begin with, and names do not.
  std::string_view first_words;
  /// Words that CLDR has among the abbreviations, but that more often end a sentence.
  std::string_view ordinary_words;
  bool ordinals;  ///< a full stop makes ordinal numbers
};

std::span<const AbbreviationLists> abbreviation_lists();

}  // namespace fuselage
