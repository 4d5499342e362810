#include "text/words/flat_mapping.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string>
#include <system_error>

namespace fuselage {
namespace {

/// A YAML key that needs no `?` has at most 1024 characters.
constexpr std::size_t kLongestKey = 1000;

/// Bytes that no word of this form contains: blanks and control characters, of which YAML takes
/// some for ends of lines or of the text, and bytes of other encodings than UTF-8.
bool is_excluded(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte <= ' ' || byte == 0x7f || byte >= 0xf8;
}

/// Whether a plain word may begin with these characters; the second one is not a blank.
bool begins_plain(char c) {
  constexpr std::string_view kIndicators = ",[]{}#&*!|>'\"%@`:";
  return kIndicators.find(c) == std::string_view::npos;
}

/// Takes the word and the colon behind it from a line.
class WordReader {
 public:
  explicit WordReader(std::string_view line) : line_(line) {}

  std::optional<std::string> take() {
    if (line_.empty()) return std::nullopt;
    if (line_[0] == '"') return take_quoted('\\');
    if (line_[0] == '\'') return take_quoted('\'');
    const std::size_t end = line_.find(": ");
    if (end == 0 || end == std::string_view::npos || !begins_plain(line_[0])) return std::nullopt;
    return finished(std::string(line_.substr(0, end)), end);
  }

  /// The line behind the colon.
  std::string_view rest() const { return line_; }

 private:
  /// Takes a word in quotes, in which `escape` precedes a quote or itself.
  std::optional<std::string> take_quoted(char escape) {
    const char quote = line_[0];
    std::string word;
    for (std::size_t at = 1; at < line_.size(); ++at) {
      const bool escapes = line_[at] == escape && at + 1 < line_.size() &&
                           (line_[at + 1] == quote || line_[at + 1] == escape);
      if (escapes)
        ++at;
      else if (line_[at] == quote)
        return finished(std::move(word), at + 1);
      else if (line_[at] == escape)
        return std::nullopt;
      word += line_[at];
    }
    return std::nullopt;
  }

  /// The word if a colon is at `end`, and nothing before it is excluded.
  std::optional<std::string> finished(std::string word, std::size_t end) {
    if (end > kLongestKey || end >= line_.size() || line_[end] != ':' ||
        std::any_of(line_.begin(), line_.begin() + static_cast<std::ptrdiff_t>(end), is_excluded))
      return std::nullopt;
    line_.remove_prefix(end + 1);
    return word;
  }

  std::string_view line_;
};

/// An id with spaces before it, up to the end of the line.
std::optional<WordId> parse_id(std::string_view text, WordId largest_id) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == 0 || first == std::string_view::npos || text[first] == '-') return std::nullopt;
  WordId id = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + first, end, id);
  if (error != std::errc() || stop != end || id > largest_id) return std::nullopt;
  return id;
}

}  // namespace

std::optional<std::vector<WordEntry>> parse_flat_mapping(std::string_view text, WordId largest_id) {
  // YAML knows the encoding by the first bytes.
  if (text.empty() || text.starts_with("\xEF\xBB\xBF")) return std::nullopt;
  std::vector<WordEntry> entries;
  entries.reserve(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) + 1);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    WordReader reader(text.substr(0, end));
    std::optional<std::string> word = reader.take();
    const std::optional<WordId> id = word ? parse_id(reader.rest(), largest_id) : std::nullopt;
    if (!id) return std::nullopt;
    entries.push_back({*id, *std::move(word)});
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return entries;
}

}  // namespace fuselage
