#include "text/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "fuselage/base/error.h"
#include "text/utf8.h"

namespace fuselage {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

utf8proc_category_t category_of(char32_t code) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(code));
}

/// Number of bytes at the beginning of a text that one U+FFFD replaces.
std::size_t erroneous_length(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0xC2 || lead > 0xF4) return 1;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  // The second byte has a narrower range behind some first ones.
  const unsigned char least = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned char most = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  std::size_t at = 1;
  for (; at < length && at < text.size(); ++at)
    if (byte(at) < (at == 1 ? least : 0x80) || byte(at) > (at == 1 ? most : 0xBF)) break;
  return at;
}

utf8proc_option_t options_of(NormalForm form) {
  const bool composes = form == NormalForm::nfc || form == NormalForm::nfkc;
  const bool is_compatible = form == NormalForm::nfkc || form == NormalForm::nfkd;
  unsigned options = UTF8PROC_STABLE;
  options |= composes ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE;
  if (is_compatible) options |= UTF8PROC_COMPAT;
  return static_cast<utf8proc_option_t>(options);
}

struct CodeRange {
  char32_t first, last;
};

/// Consonants of Devanagari, Bengali, Gujarati, Oriya, Telugu and Malayalam that form conjuncts
/// (property Indic_Conjunct_Break of Unicode 15.1), in ascending order.
constexpr CodeRange kLinkedConsonants[] = {
    {0x915, 0x939}, {0x958, 0x95F}, {0x978, 0x97F}, {0x995, 0x9A8}, {0x9AA, 0x9B0}, {0x9B2, 0x9B2},
    {0x9B6, 0x9B9}, {0x9DC, 0x9DD}, {0x9DF, 0x9DF}, {0x9F0, 0x9F1}, {0xA95, 0xAA8}, {0xAAA, 0xAB0},
    {0xAB2, 0xAB3}, {0xAB5, 0xAB9}, {0xAF9, 0xAF9}, {0xB15, 0xB28}, {0xB2A, 0xB30}, {0xB32, 0xB33},
    {0xB35, 0xB39}, {0xB5C, 0xB5D}, {0xB5F, 0xB5F}, {0xB71, 0xB71}, {0xC15, 0xC28}, {0xC2A, 0xC39},
    {0xC58, 0xC5A}, {0xD15, 0xD3A},
};

bool is_linked_consonant(char32_t code) {
  const auto* range = std::ranges::lower_bound(kLinkedConsonants, code, {}, &CodeRange::last);
  return range != std::end(kLinkedConsonants) && code >= range->first;
}

/// The viramas of the same scripts.
bool is_consonant_linker(char32_t code) {
  return code == 0x94D || code == 0x9CD || code == 0xACD || code == 0xB4D || code == 0xC4D ||
         code == 0xD4D;
}

/// Hangul's medial vowels and final consonants, which compose with the character before them.
bool is_later_jamo(char32_t code) { return code >= 0x1160 && code <= 0x11FF; }

}  // namespace

Character first_character(std::string_view text) {
  const auto byte = [text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  char32_t code = lead & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) code = code << 6 | (byte(i) & 0x3FU);
  return {code, length};
}

Character leading_character(std::string_view text) {
  if (text.empty()) return {};
  return utf8_sequence_length(text) == 0 ? Character{kReplacement, 1} : first_character(text);
}

Character last_character(std::string_view text) {
  constexpr std::size_t kLongestCharacter = 4;
  const std::size_t longest = std::min(text.size(), kLongestCharacter);
  for (std::size_t length = 1; length <= longest; ++length) {
    const std::string_view end = text.substr(text.size() - length);
    if (utf8_sequence_length(end) == length) return first_character(end);
  }
  return text.empty() ? Character{} : Character{kReplacement, 1};
}

std::vector<char32_t> characters_of(std::string_view text) {
  std::vector<char32_t> codes;
  codes.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const Character character = first_character(text.substr(at));
    codes.push_back(character.code);
    at += character.length;
  }
  return codes;
}

void append_utf8(char32_t code, std::string& text) {
  std::array<utf8proc_uint8_t, 4> bytes{};
  const utf8proc_ssize_t length =
      utf8proc_encode_char(static_cast<utf8proc_int32_t>(code), bytes.data());
  text.append(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(length));
}

std::string with_replaced_errors(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    const std::size_t length = rest[0] == '\0' ? 1 : utf8_sequence_length(rest);
    if (length > 0) {
      valid += rest.substr(0, length);
      at += length;
    } else {
      append_utf8(kReplacement, valid);
      at += erroneous_length(rest);
    }
  }
  return valid;
}

bool is_unicode_letter(char32_t code) {
  const utf8proc_category_t category = category_of(code);
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
}

bool is_unicode_number(char32_t code) {
  const utf8proc_category_t category = category_of(code);
  return category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO;
}

bool is_unicode_space(char32_t code) {
  return (code >= 0x09 && code <= 0x0D) || code == ' ' || code == 0x85 || code == 0xA0 ||
         code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 || code == 0x2029 ||
         code == 0x202F || code == 0x205F || code == 0x3000;
}

bool is_word_character(char32_t code) {
  const utf8proc_category_t category = category_of(code);
  // Letters in circles and squares are alphabetic, too.
  const bool enclosed =
      (code >= 0x24B6 && code <= 0x24E9) || (code >= 0x1F130 && code <= 0x1F149) ||
      (code >= 0x1F150 && code <= 0x1F169) || (code >= 0x1F170 && code <= 0x1F189);
  return is_unicode_letter(code) || is_combining_mark(code) || category == UTF8PROC_CATEGORY_ND ||
         category == UTF8PROC_CATEGORY_NL || category == UTF8PROC_CATEGORY_PC || code == 0x200C ||
         code == 0x200D || enclosed;
}

bool is_combining_mark(char32_t code) {
  const utf8proc_category_t category = category_of(code);
  return category >= UTF8PROC_CATEGORY_MN && category <= UTF8PROC_CATEGORY_ME;
}

bool is_unicode_quote(char32_t code) {
  const utf8proc_category_t category = category_of(code);
  return category == UTF8PROC_CATEGORY_PI || category == UTF8PROC_CATEGORY_PF;
}

bool is_unicode_bracket(char32_t code) {
  return is_opening_bracket(code) || category_of(code) == UTF8PROC_CATEGORY_PE;
}

bool is_opening_bracket(char32_t code) { return category_of(code) == UTF8PROC_CATEGORY_PS; }

bool is_space_separator(char32_t code) { return category_of(code) == UTF8PROC_CATEGORY_ZS; }

bool is_small_letter(char32_t code) { return category_of(code) == UTF8PROC_CATEGORY_LL; }

std::u32string small_letters(char32_t code) {
  // The only character with two of them (SpecialCasing.txt, without conditions).
  if (code == 0x130) return U"i\u0307";
  return {static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(code)))};
}

std::u32string normal_form(std::u32string_view text, NormalForm form) {
  const utf8proc_option_t options = options_of(form);
  std::string bytes;
  for (const char32_t code : text) append_utf8(code, bytes);
  const auto* begin = reinterpret_cast<const utf8proc_uint8_t*>(bytes.data());
  const auto size = static_cast<utf8proc_ssize_t>(bytes.size());
  const utf8proc_ssize_t length = utf8proc_decompose(begin, size, nullptr, 0, options);
  check(length >= 0, "a text of valid characters has no normal form");
  // The library writes the terminating zero, too.
  std::vector<utf8proc_int32_t> codes(static_cast<std::size_t>(length) + 1);
  utf8proc_decompose(begin, size, codes.data(), length, options);
  const utf8proc_ssize_t normal = utf8proc_normalize_utf32(codes.data(), length, options);
  return {codes.begin(), codes.begin() + normal};
}

bool begins_normal_part(char32_t code, NormalForm form) {
  if (code < 0x80) return true;
  std::array<utf8proc_int32_t, 32> codes{};
  int boundary_class = 0;
  const bool is_compatible = form == NormalForm::nfkc || form == NormalForm::nfkd;
  const unsigned options =
      UTF8PROC_DECOMPOSE | (is_compatible ? UTF8PROC_COMPAT : UTF8PROC_NULLTERM);
  const utf8proc_ssize_t length =
      utf8proc_decompose_char(static_cast<utf8proc_int32_t>(code), codes.data(), codes.size(),
                              static_cast<utf8proc_option_t>(options), &boundary_class);
  const char32_t first = length > 0 ? static_cast<char32_t>(codes[0]) : code;
  return !is_combining_mark(first) && !is_later_jamo(first);
}

bool GraphemeBreaker::breaks(char32_t left, char32_t right) {
  constexpr char32_t kJoiner = 0x200D;
  if (is_linked_consonant(left))
    conjunct_ = Conjunct::consonant;
  else if (conjunct_ != Conjunct::none && is_consonant_linker(left))
    conjunct_ = Conjunct::linked;
  else if (category_of(left) != UTF8PROC_CATEGORY_MN && left != kJoiner)
    conjunct_ = Conjunct::none;
  const bool breaks = utf8proc_grapheme_break_stateful(
      static_cast<utf8proc_int32_t>(left), static_cast<utf8proc_int32_t>(right), &state_);
  return breaks && !(conjunct_ == Conjunct::linked && is_linked_consonant(right));
}

}  // namespace fuselage
