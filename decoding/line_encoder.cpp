#include "decoding/line_encoder.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/error.h"

namespace fuselage {
namespace {

constexpr std::size_t kLinesToName = 10;
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

bool continues(std::string_view text, std::size_t at) {
  return at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80;
}

/// Length of the UTF-8 sequence at the beginning of `text`; 0: there is none (RFC 3629).
std::size_t sequence_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return lead == 0 ? 0 : 1;
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if (!continues(text, i)) return 0;
  const auto second = static_cast<unsigned char>(text[1]);
  const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  const bool surrogate = lead == 0xED && second > 0x9F;
  const bool too_large = lead == 0xF4 && second > 0x8F;
  return overlong || surrogate || too_large ? 0 : length;
}

bool is_valid(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string describe(LineOddity oddity, bool many, std::size_t max_length) {
  switch (oddity) {
    case LineOddity::empty:
      return many ? "were empty" : "was empty";
    case LineOddity::invalid_text:
      return fmt::format(
          "{} not valid UTF-8, or had NUL in {}; U+FFFD took the place of what was "
          "invalid",
          many ? "were" : "was", many ? "them" : "it");
    case LineOddity::too_long:
      break;
  }
  return fmt::format("longer than {} tokens {} cut", max_length, many ? "were" : "was");
}

}  // namespace

std::string valid_text(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = sequence_length(text);
    result += length == 0 ? kReplacement : text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return result;
}

EncodedLine LineEncoder::encode(std::string_view line, std::size_t number) const {
  EncodedLine result{.bytes = line.size() + 1};
  const bool valid = is_valid(line);
  if (!valid) {
    if (options_.strict)
      throw Error(
          "line {} is not valid UTF-8, or has NUL in it; correct it, or go on without "
          "--strict, which replaces what is invalid",
          number + 1);
    result.oddities.push_back(LineOddity::invalid_text);
  }
  result.words = vocabulary_.encode(valid ? line : std::string_view(valid_text(line)));
  if (result.words.size() > options_.max_length) {
    if (options_.strict)
      throw Error(
          "line {} has {} tokens, but max-length is {}; split it, raise --max-length, or go "
          "on without --strict, which cuts it",
          number + 1, result.words.size(), options_.max_length);
    result.oddities.push_back(LineOddity::too_long);
    result.words.resize(options_.max_length);
    result.words.back() = vocabulary_.end_id();
  }
  if (result.empty()) result.oddities.push_back(LineOddity::empty);
  if (options_.right_left) std::reverse(result.words.begin(), result.words.end() - 1);
  return result;
}

void LineNotes::add(std::size_t number, const std::vector<LineOddity>& oddities) {
  for (const LineOddity oddity : oddities) {
    Lines& lines = lines_[oddity];
    if (++lines.count <= kLinesToName) lines.first.push_back(number + 1);
  }
}

std::vector<std::string> LineNotes::notes() const {
  std::vector<std::string> result;
  for (const auto& [oddity, lines] : lines_) {
    const bool many = lines.count > 1;
    result.push_back(fmt::format(
        "{} line{}{}{} {} ({} {}{})", lines.count, many ? "s" : "", where_.empty() ? "" : " of ",
        where_, describe(oddity, many, max_length_), many ? "lines" : "line",
        fmt::join(lines.first, ", "), lines.count > kLinesToName ? ", …" : ""));
  }
  return result;
}

}  // namespace fuselage
