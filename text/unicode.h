#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace fuselage {

/// A character at the beginning of a text, and its number of bytes.
struct Character {
  char32_t code = 0;
  std::size_t length = 0;
};

/// The first character of a non-empty text of valid UTF-8, in which NUL may occur.
Character first_character(std::string_view text);

/// The first and the last character of any text, of length 0 if it is empty; U+FFFD for a byte that
/// is no UTF-8.
Character leading_character(std::string_view text);
Character last_character(std::string_view text);

std::vector<char32_t> characters_of(std::string_view text);

void append_utf8(char32_t code, std::string& text);

/// The text with U+FFFD for each longest part that begins a sequence of UTF-8 without ending it,
/// and for each other byte that is no UTF-8 (Unicode 15, section 3.9, "U+FFFD Substitution of
/// Maximal Subparts"). NUL stays.
std::string with_replaced_errors(std::string_view text);

/// Classes of characters in Unicode 15: general categories L and N, the property White_Space, \w of
/// UTS 18 (Annex C), and general category M.
bool is_unicode_letter(char32_t code);
bool is_unicode_number(char32_t code);
bool is_unicode_space(char32_t code);
bool is_word_character(char32_t code);
bool is_combining_mark(char32_t code);

/// Classes of characters by general categories: Pi and Pf; Ps and Pe; Ps; Zs; Ll.
bool is_unicode_quote(char32_t code);
bool is_unicode_bracket(char32_t code);
bool is_opening_bracket(char32_t code);
bool is_space_separator(char32_t code);
bool is_small_letter(char32_t code);

/// The small letter or letters of a character by itself, else the character.
std::u32string small_letters(char32_t code);

/// Normalization forms (UAX 15).
enum class NormalForm : std::uint8_t { nfc, nfd, nfkc, nfkd };

/// The form of a text of valid UTF-8; NUL stays.
std::u32string normal_form(std::u32string_view text, NormalForm form);

/// Whether a normalized text may be cut before the character: the form of the whole is that of its
/// parts, one after the other.
bool begins_normal_part(char32_t code, NormalForm form);

/// Calls `action` with each extended grapheme cluster (UAX 29) of a text of valid UTF-8.
template <typename Action>
void for_each_grapheme(std::string_view text, Action action);

/// Finds the boundaries of grapheme clusters, from the beginning of a text on.
class GraphemeBreaker {
 public:
  /// Whether a cluster ends between two characters.
  bool breaks(char32_t left, char32_t right);

 private:
  /// What the left characters are of a conjunct of consonants (rule GB9c of Unicode 15.1).
  enum class Conjunct : std::uint8_t { none, consonant, linked };

  std::int32_t state_ = 0;
  Conjunct conjunct_ = Conjunct::none;
};

template <typename Action>
void for_each_grapheme(std::string_view text, Action action) {
  if (text.empty()) return;
  GraphemeBreaker breaker;
  Character last = first_character(text);
  std::size_t begin = 0;
  for (std::size_t at = last.length; at < text.size();) {
    const Character next = first_character(text.substr(at));
    if (breaker.breaks(last.code, next.code)) {
      action(text.substr(begin, at - begin));
      begin = at;
    }
    last = next;
    at += next.length;
  }
  action(text.substr(begin));
}

}  // namespace fuselage
