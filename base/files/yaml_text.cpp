#include "base/files/yaml_text.h"

#include <algorithm>
#include <cstddef>

namespace fuselage {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kVersion = "%YAML ";

/// Whether this is "1.N" between blanks.
bool is_version_1(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  text = text.substr(0, text.find_last_not_of(kBlanks) + 1);
  return text.size() > 2 && text.starts_with("1.") &&
         text.find_first_not_of("0123456789", 2) == std::string_view::npos;
}

bool continues(std::string_view text, std::size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
}

/// The number of bytes of the UTF-8 sequence that begins at `at`, without those that are missing.
std::size_t sequence_length(std::string_view text, std::size_t at) {
  const auto lead = static_cast<unsigned char>(text[at]);
  const std::size_t most = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  std::size_t length = 1;
  while (length < most && continues(text, at + length)) ++length;
  return length;
}

}  // namespace

std::string without_version_directive(std::string text) {
  std::size_t at = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  while (at < text.size() && (text[at] == '%' || text[at] == '#' || text[at] == '\n')) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    if (line.starts_with(kVersion)) {
      if (is_version_1(line.substr(kVersion.size()))) text[at] = '#';
      break;
    }
    at = end + 1;
  }
  return text;
}

std::string with_escaped_characters(std::string scalar) {
  const auto is_lone = [](char c) { return c == '\xA0' || c == '\x85'; };
  if (std::ranges::none_of(scalar, is_lone)) return scalar;
  std::string text;
  for (std::size_t at = 0; at < scalar.size();) {
    const std::size_t length = sequence_length(scalar, at);
    if (length == 1 && is_lone(scalar[at])) text += '\xC2';
    text.append(scalar, at, length);
    at += length;
  }
  return text;
}

}  // namespace fuselage
