#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/pages/html/source_map.h"
#include "text/pages/html/tokenizer.h"
#include "text/pages/html/untranslated_element.h"
#include "text/pages/markup.h"

namespace fuselage {

/// A text of a document between tags that separate sentences, with the markup in it.
struct HtmlText {
  std::string text;            ///< characters in the place of their references
  SourceMap map;               ///< of the text to the document
  std::vector<Markup> markup;  ///< in order; Markup::at in `text`
};

/// Reads the texts of a document, and what has a place in them: tags of inline elements, comments,
/// and elements that are not translated, each as a whole. These are programs, formulas, pictures
/// and fields, elements with translate="no" or class="notranslate", and character references that
/// are unknown. In linear time, for any document.
class HtmlReader {
 public:
  explicit HtmlReader(std::string_view document) : document_(document), tokens_(document) {}

  /// The next text with characters; false at the end.
  bool next(HtmlText& text);

 private:
  bool follow(const HtmlToken& token, HtmlText& text);
  bool follow_tag(const HtmlToken& token, HtmlText& text);
  bool follow_untranslated(const HtmlToken& token, HtmlText& text);
  bool read_text(HtmlText& text);
  void read_reference(std::size_t length, char32_t code, HtmlText& text);
  void add_characters(std::string_view characters, TextSpan source, HtmlText& text);
  void add_markup(Markup::Kind kind, const HtmlToken& token, HtmlText& text);
  void match(const std::string& name, HtmlText& text);
  void begin_text(HtmlText& text);

  struct OpenTag {
    std::string name;
    std::size_t markup;
  };

  std::string_view document_;
  HtmlTokenizer tokens_;
  std::optional<HtmlToken> pending_;  ///< a tag that is to be followed again
  TextSpan rest_;                     ///< of a text token
  OpenElements open_;
  std::optional<UntranslatedElement> untranslated_;
  HtmlToken untranslated_tag_;
  bool untranslated_block_ = false;
  // Of the text that is being read.
  std::vector<OpenTag> open_tags_;
  std::unordered_map<std::string, std::size_t> open_names_;
  bool word_ends_ = false;  ///< markup that is a word came last
};

}  // namespace fuselage
