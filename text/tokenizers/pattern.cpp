#include "text/tokenizers/pattern.h"

#include <fmt/format.h>

#include <charconv>

#include "base/suggest.h"
#include "text/tokenizers/json_part.h"
#include "text/unicode.h"

namespace fuselage {
namespace {

/// The least count of "+" or "{n,}", which is all of `text`; 0 for any other text.
std::size_t least_count(std::string_view text) {
  if (text == "+") return 1;
  if (!text.starts_with('{') || !text.ends_with(",}")) return 0;
  text.remove_prefix(1);
  text.remove_suffix(2);
  std::size_t count = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  return error == std::errc() && stop == text.data() + text.size() ? count : 0;
}

}  // namespace

TextPattern::TextPattern(const JsonPart& part) {
  const JsonPart pattern = part.part("pattern");
  text_ = pattern.text("String");
  if (!text_.empty()) return;
  const std::string regex = pattern.text("Regex");
  std::string_view rest = regex;
  any_space_ = rest.starts_with("\\s");
  for (const std::string_view space : {"\\s", " ", "[ ]"}) {
    if (!rest.starts_with(space)) continue;
    rest.remove_prefix(space.size());
    break;
  }
  least_ = rest.size() == regex.size() ? 0 : least_count(rest);
  if (least_ == 0)
    pattern.refuse(fmt::format(
        "the regular expression {} is not supported; texts, and runs of spaces as ' {{2,}}', are",
        in_quotes(regex)));
}

std::vector<TextRange> TextPattern::find(std::string_view text) const {
  std::vector<TextRange> ranges;
  if (!text_.empty()) {
    for (std::size_t at = 0; (at = text.find(text_, at)) != std::string_view::npos;
         at += text_.size())
      ranges.push_back({at, at + text_.size()});
    return ranges;
  }
  const auto is_space = [&](char32_t code) {
    return any_space_ ? is_unicode_space(code) : code == ' ';
  };
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    std::size_t count = 0;
    for (; at < text.size(); ++count) {
      const Character character = first_character(text.substr(at));
      if (!is_space(character.code)) break;
      at += character.length;
    }
    if (count >= least_) ranges.push_back({begin, at});
    if (at < text.size()) at += first_character(text.substr(at)).length;
  }
  return ranges;
}

}  // namespace fuselage
