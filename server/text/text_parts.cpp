#include "server/text/text_parts.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

namespace fuselage {
namespace {

constexpr std::string_view kBlanks = " \t\r\n\f\v";

void add_kept(std::vector<TextPart>& parts, std::string_view text) {
  if (text.empty()) return;
  if (!parts.empty() && !parts.back().translated)
    parts.back().text += text;
  else
    parts.push_back({std::string(text), false});
}

/// Adds a text without line breaks that count.
template <typename Decode>
void add_trimmed(std::vector<TextPart>& parts, std::string_view text, const Decode& decode) {
  const std::size_t begin = std::min(text.find_first_not_of(kBlanks), text.size());
  const std::size_t end = begin == text.size() ? begin : text.find_last_not_of(kBlanks) + 1;
  add_kept(parts, text.substr(0, begin));
  if (begin < end) parts.push_back({decode(text.substr(begin, end - begin)), true});
  add_kept(parts, text.substr(end));
}

void append_utf8(std::string& text, std::uint32_t code) {
  const auto byte = [&](std::uint32_t value) { text += static_cast<char>(value); };
  if (code < 0x80) return byte(code);
  if (code < 0x800) {
    byte(0xC0 | code >> 6);
  } else if (code < 0x10000) {
    byte(0xE0 | code >> 12);
    byte(0x80 | (code >> 6 & 0x3F));
  } else {
    byte(0xF0 | code >> 18);
    byte(0x80 | (code >> 12 & 0x3F));
    byte(0x80 | (code >> 6 & 0x3F));
  }
  byte(0x80 | (code & 0x3F));
}

/// The character of "amp" or "#x41"; none: it is not known.
std::optional<std::uint32_t> referenced(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, std::uint32_t>, 6> kNames = {
      {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}, {"nbsp", 0xA0}}};
  for (const auto& [known, code] : kNames)
    if (known == name) return code;
  if (!name.starts_with('#')) return std::nullopt;
  name.remove_prefix(1);
  const bool hex = name.starts_with('x') || name.starts_with('X');
  if (hex) name.remove_prefix(1);
  std::uint32_t code = 0;
  const char* const end = name.data() + name.size();
  const auto [at, error] = std::from_chars(name.data(), end, code, hex ? 16 : 10);
  const bool valid = error == std::errc{} && at == end && code >= 0x20 && code < 0x110000 &&
                     (code < 0xD800 || code >= 0xE000);
  return valid ? std::optional(code) : std::nullopt;
}

std::string decode_references(std::string_view html) {
  constexpr std::size_t kLongest = 10;
  std::string text;
  for (std::size_t i = 0; i < html.size(); ++i) {
    const std::size_t end = html[i] == '&' ? html.substr(i, kLongest).find(';') : html.npos;
    const auto code = end == html.npos ? std::nullopt : referenced(html.substr(i + 1, end - 1));
    if (code) {
      append_utf8(text, *code);
      i += end;
    } else {
      text += html[i];
    }
  }
  return text;
}

bool begins_with_tag(std::string_view html, std::string_view name) {
  if (html.size() <= name.size()) return false;
  return std::ranges::equal(html.substr(0, name.size()), name,
                            [](unsigned char a, char b) { return std::tolower(a) == b; }) &&
         std::isalnum(static_cast<unsigned char>(html[name.size()])) == 0;
}

/// The end of what begins with '<': a tag, a comment, or an element whose content is no text.
std::size_t end_of_markup(std::string_view html) {
  const auto behind = [&](std::string_view end) {
    const std::size_t at = html.find(end, 1);
    return at == html.npos ? html.size() : at + end.size();
  };
  if (html.starts_with("<!--")) return behind("-->");
  for (const std::string_view name : {"script", "style", "textarea", "pre", "code"}) {
    if (!begins_with_tag(html.substr(1), name)) continue;
    for (std::size_t at = html.find("</"); at != html.npos; at = html.find("</", at + 2))
      if (begins_with_tag(html.substr(at + 2), name))
        return std::min(html.find('>', at), html.size() - 1) + 1;
    return html.size();
  }
  char quote = 0;
  for (std::size_t i = 1; i < html.size(); ++i) {
    if (quote != 0)
      quote = html[i] == quote ? 0 : quote;
    else if (html[i] == '"' || html[i] == '\'')
      quote = html[i];
    else if (html[i] == '>')
      return i + 1;
  }
  return html.size();
}

bool begins_markup(std::string_view html) {
  return html.size() > 1 && html[0] == '<' &&
         (std::isalpha(static_cast<unsigned char>(html[1])) != 0 || html[1] == '/' ||
          html[1] == '!' || html[1] == '?');
}

}  // namespace

std::vector<TextPart> parts_of_text(std::string_view text) {
  std::vector<TextPart> parts;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    add_trimmed(parts, line, [](std::string_view plain) { return std::string(plain); });
    text.remove_prefix(line.size());
    if (text.empty()) break;
    add_kept(parts, "\n");
    text.remove_prefix(1);
  }
  return parts;
}

std::vector<TextPart> parts_of_html(std::string_view html) {
  std::vector<TextPart> parts;
  while (!html.empty()) {
    std::size_t end = 0;
    if (begins_markup(html)) {
      end = end_of_markup(html);
      add_kept(parts, html.substr(0, end));
    } else {
      end = 1;
      while (end < html.size() && !begins_markup(html.substr(end))) ++end;
      add_trimmed(parts, html.substr(0, end), decode_references);
    }
    html.remove_prefix(end);
  }
  return parts;
}

std::string escape_html(std::string_view text) {
  std::string html;
  for (const char c : text) {
    if (c == '&')
      html += "&amp;";
    else if (c == '<')
      html += "&lt;";
    else if (c == '>')
      html += "&gt;";
    else
      html += c;
  }
  return html;
}

}  // namespace fuselage
