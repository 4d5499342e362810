#include "text/pages/sentence_ends.h"

#include <algorithm>
#include <cstdint>

#include "text/unicode.h"
#include "text/word_boundaries.h"

namespace fuselage {
namespace {

/// The longest word that is looked up, and the longest mark of a list, in bytes.
constexpr std::size_t kLongestWord = 32;
constexpr std::size_t kLongestMark = 8;

bool is_quote(char32_t code) { return code == '"' || code == '\'' || is_unicode_quote(code); }

bool is_hiragana(char32_t code) { return code >= 0x3041 && code <= 0x309F; }

/// The marks that stand inside addresses and names too, and end a sentence only before a space.
bool needs_space(char32_t mark) { return mark == '.' || mark == '!' || mark == '?'; }

/// The text without what `drop` accepts at its end.
template <typename Drop>
std::string_view without_end(std::string_view text, Drop drop) {
  while (!text.empty()) {
    const Character last = last_character(text);
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
    const Character last = last_character(rest);
    if (is_space_separator(last.code) || is_quote(last.code) || is_unicode_bracket(last.code))
      break;
    rest.remove_suffix(last.length);
    if (text.size() - rest.size() > kLongestWord) return {};
  }
  return text.substr(rest.size());
}

/// The first word of a text, behind opening quotes and brackets.
std::string_view first_word(std::string_view text) {
  text = text.substr(0, 2 * kLongestWord);
  const auto opens = [](char32_t code) {
    return is_quote(code) || is_unicode_bracket(code) || is_space_separator(code);
  };
  while (!text.empty() && opens(leading_character(text).code))
    text.remove_prefix(leading_character(text).length);
  const auto continues = [](char32_t code) {
    return is_unicode_letter(code) || is_unicode_number(code) || is_combining_mark(code);
  };
  std::size_t end = 0;
  while (end < text.size()) {
    const Character next = leading_character(text.substr(end));
    if (!continues(next.code)) break;
    end += next.length;
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
  const std::size_t end =
      begin + without_end(text.substr(begin, boundary - begin), is_opening_bracket).size();
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
    if (!is_quote(code) && !is_unicode_bracket(code)) return false;
    if (closer == 0) closer = code;
    quoted |= is_quote(code);
    return true;
  });
  const char32_t mark = last_character(core).code;
  const char32_t following = leading_character(next).code;
  if (!spaced && needs_space(mark) && begins_with_letter(next)) return false;
  if (!spaced && mark != '.' && closer != 0 && is_hiragana(following)) return false;
  if (mark != '.') return closer == 0 || !is_small_letter(following);
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
