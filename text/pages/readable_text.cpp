#include "text/pages/readable_text.h"

#include <algorithm>

#include "text/unicode.h"
#include "text/utf8.h"

namespace fuselage {
namespace {

constexpr char32_t kSoftHyphen = 0xAD;
constexpr char32_t kZeroWidthSpace = 0x200B;
constexpr char32_t kWordJoiner = 0x2060;
constexpr char32_t kMark = 0xFEFF;

/// Thai, Lao, Tibetan, Myanmar and Khmer (Unicode 15, Blocks.txt).
bool is_written_without_spaces(char32_t code) {
  return (code >= 0x0E00 && code <= 0x109F) || (code >= 0x1780 && code <= 0x17FF);
}

bool is_dropped(char32_t code, char32_t before) {
  if (code == kZeroWidthSpace) return !is_written_without_spaces(before);
  return code == kSoftHyphen || code == kWordJoiner || code == kMark;
}

}  // namespace

ReadableText readable_text(std::string_view text, std::span<const std::size_t> places) {
  ReadableText result;
  bool space = false;
  char32_t before = 0;
  auto place = places.begin();
  for (std::size_t at = 0; at < text.size();) {
    for (; place != places.end() && *place <= at; ++place)
      result.places.push_back(result.text.size() + (space ? 1 : 0));
    const std::string_view rest = text.substr(at);
    if (const std::size_t length = space_length(rest)) {
      space = true;
      at += length;
      continue;
    }
    const std::size_t valid = utf8_sequence_length(rest);
    const Character character =
        valid == 0 ? Character{.code = 0, .length = 1} : first_character(rest);
    at += character.length;
    if (is_dropped(character.code, before)) continue;
    if (space) result.text += ' ';
    space = false;
    before = character.code;
    result.text += rest.substr(0, character.length);
  }
  for (; place != places.end(); ++place) result.places.push_back(result.text.size());
  return result;
}

TextSpan without_outer_blanks(std::string_view text, TextSpan span) {
  constexpr std::string_view kBlanks[] = {"\u00AD", "\u200B", "\u2060", "\uFEFF"};
  for (bool found = true; found;) {
    found = false;
    span = without_outer_space(text, span);
    for (const std::string_view blank : kBlanks) {
      const bool before = span.of(text).starts_with(blank);
      if (before) span.begin += blank.size();
      const bool behind = span.of(text).ends_with(blank);
      if (behind) span.end -= blank.size();
      found |= before || behind;
    }
  }
  return span;
}

TextSpan without_bullets(std::string_view text, TextSpan span) {
  constexpr std::string_view kBullets[] = {"*",      "-",      "+",      ">",     "#",
                                           "\u00B7", "\u2013", "\u2014", "\u2022"};
  const std::size_t begin = span.begin;
  std::size_t at = begin;
  for (bool found = true; found;) {
    found = false;
    const std::string_view rest = text.substr(at, span.end - at);
    for (const std::string_view mark : kBullets)
      if (rest.starts_with(mark)) {
        at += mark.size();
        found = true;
        break;
      }
    if (found) continue;
    const std::size_t space = space_length(rest);
    if (space == 0 || at == begin) break;
    span.begin = at += space;
    found = true;
  }
  return span;
}

}  // namespace fuselage
