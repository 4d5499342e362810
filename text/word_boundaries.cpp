#include "text/word_boundaries.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "text/utf8.h"

namespace fuselage {
namespace {

struct Range {
  char32_t first, last;
};

/// Above ASCII: punctuation and symbols, and scripts without spaces between words (Unicode 15,
/// Blocks.txt), in ascending order.
constexpr Range kNoLetters[] = {
    {0x80, 0xA9},     {0xAB, 0xB4},     {0xB6, 0xB9},       {0xBB, 0xBF},
    {0xD7, 0xD7},     {0xF7, 0xF7},     {0x0E00, 0x0EFF},  // Thai, Lao
    {0x0F00, 0x109F},                                      // Tibetan, Myanmar
    {0x1780, 0x17FF},                                      // Khmer
    {0x2000, 0x206F}, {0x20A0, 0x20CF}, {0x2190, 0x2BFF},  // punctuation, currencies, symbols
    {0x2E00, 0x2E7F}, {0x2E80, 0x2FFF}, {0x3000, 0x312F},  // radicals; kana, bopomofo
    {0x3190, 0xA4CF},                                      // Han, Yi
    {0xF900, 0xFAFF}, {0xFE10, 0xFE6F}, {0xFF00, 0xFF0F},   {0xFF1A, 0xFF20},
    {0xFF3B, 0xFF40}, {0xFF5B, 0xFFEF}, {0x1F000, 0x1FAFF}, {0x20000, 0x3FFFF},
};

/// The first character of a text that begins with a valid sequence of `length` bytes.
char32_t decode(std::string_view text, std::size_t length) {
  const auto byte = [text](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  if (length <= 1) return byte(0);
  char32_t value = byte(0) & (0xFFU >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) value = value << 6 | (byte(i) & 0x3FU);
  return value;
}

bool is_letter(char32_t c) {
  if (c < 0x80) return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  const auto* range = std::ranges::lower_bound(kNoLetters, c, {}, &Range::last);
  return range == std::end(kNoLetters) || c < range->first;
}

/// Spaces of Unicode, between which words stand (Unicode 15, property White_Space).
bool is_space(char32_t c) {
  return c == ' ' || c == '\t' || c == '\r' || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x202F || c == 0x205F || c == 0x3000;
}

std::size_t first_length(std::string_view text) {
  return std::max<std::size_t>(1, utf8_sequence_length(text));
}

}  // namespace

bool begins_with_letter(std::string_view text) {
  return !text.empty() && is_letter(decode(text, first_length(text)));
}

std::vector<std::string_view> word_tokens(std::string_view text) {
  std::vector<std::string_view> tokens;
  bool in_word = false;
  while (!text.empty()) {
    const std::size_t length = first_length(text);
    const char32_t character = decode(text, length);
    const bool space = is_space(character);
    const bool letter = !space && is_letter(character);
    if (letter && in_word)
      tokens.back() = {tokens.back().data(), tokens.back().size() + length};
    else if (!space)
      tokens.push_back(text.substr(0, length));
    in_word = letter;
    text.remove_prefix(length);
  }
  return tokens;
}

}  // namespace fuselage
