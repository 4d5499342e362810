#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/text_span.h"

namespace fuselage {

/// A text in which some parts were replaced.
class ReplacedText {
 public:
  /// Appends a part of the first text that stays.
  void keep(std::string_view part);
  /// Appends a part in the place of the next `size` bytes of the first text.
  void replace(std::size_t size, std::string_view part);
  /// Drops the last byte, which was kept.
  void drop_last();

  const std::string& text() const { return text_; }
  std::string take() && { return std::move(text_); }

  /// The places in the text, or in the first one, of a part of the other. A part within a replaced
  /// one has the place of the whole.
  TextSpan to_text(TextSpan first) const;
  TextSpan to_first(TextSpan text) const;

 private:
  struct Edit {
    TextSpan first, text;
  };

  static TextSpan moved(TextSpan span, std::span<const Edit> edits, TextSpan Edit::*from,
                        TextSpan Edit::*to);

  std::string text_;
  std::size_t first_ = 0;  ///< bytes of the first text so far
  std::vector<Edit> edits_;
};

}  // namespace fuselage
