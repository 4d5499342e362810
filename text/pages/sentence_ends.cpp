#include "text/pages/sentence_ends.h"

#include <unicode/uchar.h>
#include <unicode/utf8.h>

#include <algorithm>
#include <cstdint>

#include "text/word_boundaries.h"

namespace fuselage {
namespace {

/// The longest word that is looked up, and the longest mark of a list, in bytes.
constexpr std::size_t kLongestWord = 32;
constexpr std::size_t kLongestMark = 8;
constexpr std::size_t kLongestCharacter = 4;

/// The last character of a text and its number of bytes; U+FFFD for what is no UTF-8.
struct LastCharacter {
  char32_t code = 0;
  std::size_t length = 0;
};

LastCharacter last_character(std::string_view text) {
  if (text.empty()) return {};
  text = text.substr(text.size() - std::min(text.size(), kLongestCharacter));
  const auto size = static_cast<std::int32_t>(text.size());
  std::int32_t at = size;
  UChar32 code = 0;
  U8_PREV(reinterpret_cast<const std::uint8_t*>(text.data()), 0, at, code);
  return {code < 0 ? U'\uFFFD' : static_cast<char32_t>(code), static_cast<std::size_t>(size - at)};
}

char32_t first_code(std::string_view text) {
  if (text.empty()) return 0;
  const auto size = static_cast<std::int32_t>(std::min(text.size(), kLongestCharacter));
  std::int32_t at = 0;
  UChar32 code = 0;
  U8_NEXT(reinterpret_cast<const std::uint8_t*>(text.data()), at, size, code);
  return code < 0 ? U'\uFFFD' : static_cast<char32_t>(code);
}

bool is_category(char32_t code, std::uint32_t mask) {
  return (U_GET_GC_MASK(static_cast<UChar32>(code)) & mask) != 0;
}

bool is_quote(char32_t code) {
  return code == '"' || code == '\'' || is_category(code, U_GC_PI_MASK | U_GC_PF_MASK);
}

bool is_bracket(char32_t code) { return is_category(code, U_GC_PS_MASK | U_GC_PE_MASK); }

bool is_space_separator(char32_t code) { return is_category(code, U_GC_ZS_MASK); }

bool is_hiragana(char32_t code) { return code >= 0x3041 && code <= 0x309F; }

/// The marks that stand inside addresses and names too, and end a sentence only before a space.
bool needs_space(char32_t mark) { return mark == '.' || mark == '!' || mark == '?'; }

/// The text without what `drop` accepts at its end.
template <typename Drop>
std::string_view without_end(std::string_view text, Drop drop) {
  while (!text.empty()) {
    const LastCharacter last = last_character(text);
    if (!drop(last.code)) break;
    text.remove_suffix(last.length);
  }
  return text;
}

/// The end of a text behind its last space, opening quote or bracket, of at most kLongestWord
/// bytes; empty for a longer word.
std::string_view last_word(std::string_view text) {
  std::string_view rest = text;
  while (!rest.empty()) {
    const LastCharacter last = last_character(rest);
    if (is_space_separator(last.code) || is_quote(last.code) || is_bracket(last.code)) break;
    rest.remove_suffix(last.length);
    if (text.size() - rest.size() > kLongestWord) return {};
  }
  return text.substr(rest.size());
}

/// The first word of a text, behind opening quotes and brackets.
std::string_view first_word(std::string_view text) {
  text = text.substr(0, 2 * kLongestWord);
  while (!text.empty()) {
    const char32_t code = first_code(text);
    if (!is_quote(code) && !is_bracket(code) && !is_space_separator(code)) break;
    std::size_t length = 1;
    while (length < text.size() && (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80)
      ++length;
    text.remove_prefix(length);
  }
  std::size_t end = 0;
  while (end < text.size()) {
    const char32_t code = first_code(text.substr(end));
    if (!is_category(code, U_GC_L_MASK | U_GC_N_MASK | U_GC_M_MASK)) break;
    ++end;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
  }
  return text.substr(0, end);
}

bool is_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

bool is_roman(std::string_view text) {
  return !text.empty() && text.find_first_not_of("IVXLC") == std::string_view::npos;
}

/// Whether a sentence up to its full stop is only the mark of a list's entry: "1", "a", "IV".
bool is_list_mark(std::string_view sentence) {
  if (sentence.size() > kLongestMark) return false;
  return is_digits(sentence) || is_roman(sentence) || sentence.size() == 1;
}

}  // namespace

std::size_t SentenceEnds::find_end(std::string_view text, std::size_t begin,
                                   std::size_t boundary) const {
  const auto opens = [](char32_t code) { return is_category(code, U_GC_PS_MASK); };
  const std::size_t end = begin + without_end(text.substr(begin, boundary - begin), opens).size();
  return is_end(text, {begin, end}) ? end : begin;
}

bool SentenceEnds::is_end(std::string_view text, TextSpan span) const {
  const std::string_view next = text.substr(span.end);
  const std::string_view sentence = without_end(span.of(text), is_space_separator);
  if (sentence.empty()) return false;
  const bool spaced = sentence.size() < span.size();
  bool quoted = false;
  char32_t closer = 0;
  const std::string_view core = without_end(sentence, [&](char32_t code) {
    if (!is_quote(code) && !is_bracket(code)) return false;
    if (closer == 0) closer = code;
    quoted |= is_quote(code);
    return true;
  });
  const char32_t mark = last_character(core).code;
  const char32_t following = first_code(next);
  if (!spaced && needs_space(mark) && begins_with_letter(next)) return false;
  if (!spaced && mark != '.' && closer != 0 && is_hiragana(following)) return false;
  if (mark != '.') return closer == 0 || !is_category(following, U_GC_LL_MASK);
  return quoted || full_stop_ends(core.substr(0, core.size() - 1), next);
}

bool SentenceEnds::full_stop_ends(std::string_view sentence, std::string_view next) const {
  if (is_list_mark(sentence)) return false;
  const std::string_view word = last_word(sentence);
  // An ellipsis.
  if (word.empty() || word.ends_with('.')) return true;
  const std::string_view follower = first_word(next);
  const bool number = !follower.empty() && (is_digits(follower.substr(0, 1)) || is_roman(follower));
  constexpr std::size_t kOrdinalDigits = 2;
  const bool ordinal = abbreviations_.has_ordinals() &&
                       ((is_digits(word) && word.size() <= kOrdinalDigits) || is_roman(word));
  switch (ordinal ? FullStop::may_end : abbreviations_.kind(word)) {
    case FullStop::ends:
      return true;
    case FullStop::never_ends:
      return false;
    case FullStop::before_number:
      return !number;
    case FullStop::may_end:
      break;
  }
  return abbreviations_.begins_sentences(follower);
}

}  // namespace fuselage
