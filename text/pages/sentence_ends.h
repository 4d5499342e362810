#pragma once

#include <cstddef>
#include <string_view>

#include "text/pages/abbreviations.h"
#include "text/text_span.h"

namespace fuselage {

/// Decides which of the sentence ends that Unicode's rules propose are ones. Each decision looks at
/// a bounded number of bytes on both sides.
class SentenceEnds {
 public:
  explicit SentenceEnds(std::string_view language) : abbreviations_(language) {}

  /// The end of the sentence that began at `begin`, where the rules have `boundary`: before it if
  /// opening brackets come between; `begin` if it does not end there. All white space of the text
  /// is spaces, and "..." stands for an ellipsis.
  std::size_t find_end(std::string_view text, std::size_t begin, std::size_t boundary) const;

 private:
  bool is_end(std::string_view text, TextSpan span) const;
  bool full_stop_ends(std::string_view sentence, std::string_view next) const;

  Abbreviations abbreviations_;
};

}  // namespace fuselage
