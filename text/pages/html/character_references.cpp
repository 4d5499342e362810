#include "text/pages/html/character_references.h"

#include <algorithm>
#include <iterator>

#include "text/pages/html/character_names.h"

namespace fuselage {
namespace {

constexpr std::size_t kLongestName = 32;
constexpr char32_t kReplacement = 0xFFFD;

/// What the numbers 0x80 to 0x9F stand for, as in Windows-1252 (HTML Standard, 13.2.5.80); 0:
/// themselves.
constexpr char16_t kWindows[] = {0x20AC, 0,      0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021,
                                 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0,      0x017D, 0,
                                 0,      0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
                                 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0,      0x017E, 0x0178};

char32_t character_of_number(char32_t number) {
  constexpr char32_t kFirstWindows = 0x80, kLast = 0x10FFFF;
  if (number == 0 || number > kLast || (number >= 0xD800 && number <= 0xDFFF)) return kReplacement;
  if (number < kFirstWindows || number >= kFirstWindows + std::size(kWindows)) return number;
  const char32_t code = kWindows[number - kFirstWindows];
  return code == 0 ? number : code;
}

/// 16 for what is no digit.
char32_t digit_of(char byte) {
  if (byte >= '0' && byte <= '9') return static_cast<char32_t>(byte - '0');
  const char letter = static_cast<char>(byte | 0x20);
  return letter >= 'a' && letter <= 'f' ? static_cast<char32_t>(letter - 'a' + 10) : 16;
}

/// "&#N;"
CharacterReference numeric_reference(std::string_view text) {
  const bool hexadecimal = text.size() > 2 && (text[2] == 'x' || text[2] == 'X');
  const char32_t base = hexadecimal ? 16 : 10;
  const std::size_t begin = hexadecimal ? 3 : 2;
  std::size_t at = begin;
  char32_t number = 0;
  constexpr char32_t kTooLarge = 0x110000;
  for (; at < text.size() && digit_of(text[at]) < base; ++at)
    number = std::min<char32_t>(kTooLarge, number * base + digit_of(text[at]));
  if (at == begin) return {};
  if (at < text.size() && text[at] == ';') ++at;
  return {character_of_number(number), at};
}

template <std::size_t kSize>
char32_t find_name(const CharacterName (&names)[kSize], std::string_view name) {
  const auto* found = std::ranges::lower_bound(names, name, {}, &CharacterName::name);
  return found != std::end(names) && found->name == name ? found->code : 0;
}

}  // namespace

CharacterReference character_reference(std::string_view text) {
  if (text.starts_with("&#")) return numeric_reference(text);
  std::size_t end = 1;
  const auto is_name = [](char byte) {
    return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
           (byte >= 'A' && byte <= 'Z');
  };
  while (end < text.size() && end <= kLongestName && is_name(text[end])) ++end;
  const std::string_view name = text.substr(1, end - 1);
  if (name.empty()) return {};
  const bool ended = end < text.size() && text[end] == ';';
  if (ended) {
    if (const char32_t code = find_name(kEndedNames, name)) return {code, end + 1};
    if (const char32_t code = find_name(kBareNames, name)) return {code, end + 1};
  }
  for (std::size_t length = name.size(); length > 1; --length)
    if (const char32_t code = find_name(kBareNames, name.substr(0, length)))
      // A longer name with a semicolon may be one of those that are not known here.
      return ended ? CharacterReference{0, end + 1} : CharacterReference{code, length + 1};
  return ended ? CharacterReference{0, end + 1} : CharacterReference{};
}

void append_html(std::string_view text, std::string& html) {
  while (!text.empty()) {
    const std::size_t plain = std::min(text.find_first_of("&<>\xC2"), text.size());
    html += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) return;
    constexpr std::string_view kNoBreak = "\xC2\xA0";
    const bool space = text.starts_with(kNoBreak);
    html += space            ? std::string_view("&nbsp;")
            : text[0] == '&' ? std::string_view("&amp;")
            : text[0] == '<' ? std::string_view("&lt;")
            : text[0] == '>' ? std::string_view("&gt;")
                             : text.substr(0, 1);
    text.remove_prefix(space ? kNoBreak.size() : 1);
  }
}

}  // namespace fuselage
