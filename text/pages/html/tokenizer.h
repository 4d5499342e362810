#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "text/text_span.h"

namespace fuselage {

/// A part of a document of HTML.
struct HtmlToken {
  enum class Kind : std::uint8_t {
    text,  ///< with character references
    start_tag,
    end_tag,
    raw,   ///< the content of a script, a style sheet and the like
    other  ///< a comment, a declaration, what is read as a comment
  };

  Kind kind = Kind::text;
  TextSpan span;
  /// Of tags: in small letters; empty if it has more than kLongestElementName bytes.
  std::string name = {};
  bool self_closing = false;
  /// Of start tags: translate="no" and class="notranslate"; translate="yes" or "".
  bool forbids_translation = false, allows_translation = false;
};

/// Divides a document into tokens as the HTML Standard does (13.2.5), in linear time. The spans of
/// the tokens, one after the other, are the document: nothing is an error. Tags within foreign
/// content (SVG, MathML) are found, CDATA sections too.
class HtmlTokenizer {
 public:
  explicit HtmlTokenizer(std::string_view document) : document_(document) {}

  /// The next token; false at the end.
  bool next(HtmlToken& token);

 private:
  void read_markup(HtmlToken& token);
  void read_tag(HtmlToken& token);
  void read_attributes(HtmlToken& token);
  void enter(const HtmlToken& tag);
  std::size_t end_of_raw_text() const;
  std::size_t end_of_script() const;
  std::size_t find_end_tag(std::size_t from) const;
  bool is_tag_of(std::size_t at, std::string_view opening) const;

  std::string_view document_;
  std::size_t at_ = 0;
  std::string raw_ = {};           ///< the element whose text comes next; empty: none
  std::string foreign_ = {};       ///< "svg" or "math" within it; empty: HTML
  std::size_t foreign_depth_ = 0;  ///< of elements of that name
  std::size_t html_depth_ = 0;     ///< of elements within foreign content that hold HTML
};

}  // namespace fuselage
