#include "decoding/lines/line_encoder.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "decoding/lines/line_reader.h"
#include "fuselage/base/error.h"
#include "text/utf8.h"

namespace fuselage {
namespace {

constexpr std::size_t kLinesToName = 10;
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

std::string describe(LineOddity oddity, bool many, std::size_t max_length) {
  switch (oddity) {
    case LineOddity::empty:
      return many ? "were empty" : "was empty";
    case LineOddity::invalid_text:
      return fmt::format(
          "{} not valid UTF-8, or had NUL in {}; U+FFFD took the place of what was "
          "invalid",
          many ? "were" : "was", many ? "them" : "it");
    case LineOddity::too_large:
      return fmt::format("longer than {} bytes {} cut", kMaxLineBytes, many ? "were" : "was");
    case LineOddity::line_break:
      return many ? "had line breaks inside, which count as spaces"
                  : "had a line break inside, which counts as a space";
    case LineOddity::too_long:
      break;
  }
  return fmt::format("longer than {} tokens {} cut", max_length, many ? "were" : "was");
}

/// `line` without line breaks at its end, as programs may leave them.
std::string_view without_line_end(std::string_view line) {
  const std::size_t last = line.find_last_not_of("\r\n");
  return line.find('\n') == std::string_view::npos ? line : line.substr(0, last + 1);
}

}  // namespace

void refuse_invalid_text(std::string_view name) {
  throw Error(
      fmt::format("{} is not valid UTF-8, or has NUL in it; correct it, or turn strict reading "
                  "off, which replaces what is invalid",
                  name));
}

ReplacedText repaired_text(std::string_view text) {
  ReplacedText result;
  while (!text.empty()) {
    const std::size_t length = utf8_sequence_length(text);
    if (length == 0)
      result.replace(1, kReplacement);
    else
      result.keep(text.substr(0, length));
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return result;
}

std::string valid_text(std::string_view text) { return repaired_text(text).take(); }

void add_oddities(std::vector<LineOddity>& oddities, const std::vector<LineOddity>& more) {
  for (const LineOddity oddity : more)
    if (std::ranges::find(oddities, oddity) == oddities.end()) oddities.push_back(oddity);
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::string LineEncoder::name_of(std::size_t number) const {
  return options_.text.empty() ? fmt::format("line {}", number + 1)
                               : fmt::format("line {} of the {} text", number + 1, options_.text);
}

LineEncoder::LineEncoder(const Vocabulary& vocabulary, Options options)
    : vocabulary_(vocabulary), options_(std::move(options)) {
  if (options_.max_length < 1) throw Error("max-length must be at least 1, the end symbol");
}

EncodedLine LineEncoder::encode(std::string_view line, std::size_t number,
                                const LineContext& context) const {
  EncodedLine result{.bytes = line.size() + 1};
  if (line.size() > kMaxLineBytes) {
    if (options_.strict)
      throw Error(fmt::format(
          "{} has more than {} bytes; split it, or turn strict reading off, which cuts it",
          name_of(number), kMaxLineBytes));
    result.oddities.push_back(LineOddity::too_large);
    line = utf8_prefix(line, kMaxLineBytes);
  }
  const bool valid = is_valid_utf8(line);
  if (!valid) {
    if (options_.strict) refuse_invalid_text(name_of(number));
    result.oddities.push_back(LineOddity::invalid_text);
  }
  std::string repaired;
  if (!valid) line = repaired = valid_text(line);
  line = without_line_end(line);
  if (line.find('\n') != std::string_view::npos) {
    result.oddities.push_back(LineOddity::line_break);
    line = repaired = one_line(std::string(line));
  }
  result.words = vocabulary_.encode(line);
  if (options_.placeholders) {
    Placeholders::Line read = options_.placeholders->put_into(line, result.words, context);
    if (!read.used.empty()) {
      line = repaired = std::move(read.text).take();
      result.words = vocabulary_.encode(line);
      result.placeholders = std::move(read.used);
    }
  }
  if (options_.texts) result.texts = vocabulary_.texts(line);
  if (result.words.size() > options_.max_length) {
    if (options_.strict)
      throw Error(fmt::format(
          "{} has {} tokens, but max-length is {}; split it, set max-length higher, or turn "
          "strict reading off, which cuts it",
          name_of(number), result.words.size(), options_.max_length));
    result.oddities.push_back(LineOddity::too_long);
    result.words.resize(options_.max_length);
    result.words.back() = vocabulary_.end_id();
    if (options_.texts) result.texts.resize(options_.max_length - 1);
  }
  if (result.empty()) result.oddities.push_back(LineOddity::empty);
  if (options_.right_left) {
    std::reverse(result.words.begin(), result.words.end() - 1);
    std::reverse(result.texts.begin(), result.texts.end());
  }
  return result;
}

Placeholders::Line LineEncoder::with_placeholders(std::string_view line,
                                                  const LineContext& context) const {
  if (options_.placeholders)
    return options_.placeholders->put_into(line, vocabulary_.encode(line), context);
  Placeholders::Line read;
  read.text.keep(line);
  return read;
}

void LineNotes::add(std::size_t number, const std::vector<LineOddity>& oddities) {
  for (const LineOddity oddity : oddities) {
    Lines& lines = lines_[oddity];
    if (std::exchange(lines.last, number + 1) == number + 1) continue;
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
