#include "text/tokenizers/byte_level.h"

#include <array>
#include <cstdint>

#include "text/unicode.h"

namespace fuselage {
namespace {

constexpr std::size_t kByteValues = 256;
/// Of the characters that stand for bytes, without the last one.
constexpr char32_t kByteCharacters = 0x144;

/// The character of each byte.
const std::array<char32_t, kByteValues>& byte_characters() {
  static const auto table = [] {
    std::array<char32_t, kByteValues> characters{};
    char32_t next = 0x100;
    for (char32_t byte = 0; byte < kByteValues; ++byte) {
      const bool is_visible = (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte != 0xAD);
      characters[byte] = is_visible ? byte : next++;
    }
    return characters;
  }();
  return table;
}

/// The byte of each character below kByteCharacters; -1: none.
const std::array<std::int16_t, kByteCharacters>& character_bytes() {
  static const auto table = [] {
    std::array<std::int16_t, kByteCharacters> bytes{};
    bytes.fill(-1);
    for (std::size_t byte = 0; byte < kByteValues; ++byte)
      bytes[byte_characters()[byte]] = static_cast<std::int16_t>(byte);
    return bytes;
  }();
  return table;
}

enum class Kind : std::uint8_t { letter, number, space, other };

Kind kind_of(char32_t code) {
  if (is_unicode_letter(code)) return Kind::letter;
  if (is_unicode_number(code)) return Kind::number;
  return is_unicode_space(code) ? Kind::space : Kind::other;
}

/// The end of the characters of one kind that begin at `at`.
std::size_t end_of_kind(std::string_view text, std::size_t at, Kind kind) {
  while (at < text.size()) {
    const Character character = first_character(text.substr(at));
    if (kind_of(character.code) != kind) break;
    at += character.length;
  }
  return at;
}

/// Number of bytes of a contraction such as 's at the beginning; 0: there is none.
std::size_t contraction_length(std::string_view text) {
  for (const std::string_view form : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"})
    if (text.starts_with(form)) return form.size();
  return 0;
}

/// The end of the spaces at `at`, without the last one if a word follows that is not at the end of
/// the text: the last one belongs to the word, or is a part by itself.
std::size_t end_of_spaces(std::string_view text, std::size_t at) {
  std::size_t last = at, end = at;
  while (end < text.size()) {
    const Character character = first_character(text.substr(end));
    if (kind_of(character.code) != Kind::space) break;
    last = end;
    end += character.length;
  }
  return end < text.size() && last > at ? last : end;
}

std::size_t end_of_part(std::string_view text, std::size_t at) {
  if (const std::size_t length = contraction_length(text.substr(at)); length > 0)
    return at + length;
  const std::size_t word = text[at] == ' ' ? at + 1 : at;
  if (word < text.size())
    if (const Kind kind = kind_of(first_character(text.substr(word)).code); kind != Kind::space)
      return end_of_kind(text, word, kind);
  return end_of_spaces(text, at);
}

}  // namespace

void write_bytes(AlignedText& text) {
  std::vector<AlignedText::Change> characters;
  characters.reserve(text.text().size());
  for (const char c : text.text()) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_continuation = (byte & 0xC0) == 0x80;
    characters.push_back({byte_characters()[byte], is_continuation ? 1 : 0});
  }
  text.transform(characters);
}

std::optional<std::string> written_bytes(std::string_view text) {
  std::string bytes;
  while (!text.empty()) {
    const Character character = first_character(text);
    if (character.code >= kByteCharacters || character_bytes()[character.code] < 0)
      return std::nullopt;
    bytes += static_cast<char>(character_bytes()[character.code]);
    text.remove_prefix(character.length);
  }
  return bytes;
}

std::vector<TextRange> gpt2_parts(std::string_view text) {
  std::vector<TextRange> parts;
  for (std::size_t at = 0; at < text.size(); at = parts.back().end)
    parts.push_back({at, end_of_part(text, at)});
  return parts;
}

}  // namespace fuselage
