#include "fuselage/decoding/n_best_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/numbers/from_chars.h"
#include "base/suggest.h"
#include "decoding/lines/line_reader.h"
#include "fuselage/base/error.h"

namespace fuselage {
namespace {

constexpr std::string_view kFieldSeparator = " ||| ";
constexpr std::size_t kLeastFields = 4;

/// A field of a line: where it begins and how long it is.
struct Field {
  std::size_t at, size;
};

std::vector<Field> fields_of(std::string_view line) {
  std::vector<Field> fields;
  for (std::size_t at = 0;;) {
    const std::size_t end = std::min(line.find(kFieldSeparator, at), line.size());
    fields.push_back({at, end - at});
    if (end == line.size()) return fields;
    at = end + kFieldSeparator.size();
  }
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ') || text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

/// A field as n-best lists have it, with the bars that output_format.cpp escapes.
std::string unescaped(std::string_view field) {
  constexpr std::string_view kBar = "&#124;";
  std::string text;
  for (std::size_t at = 0; at < field.size();) {
    const std::size_t end = std::min(field.find(kBar, at), field.size());
    text.append(field, at, end - at);
    if (end < field.size()) text += '|';
    at = end + kBar.size();
  }
  return text;
}

template <typename T>
bool reads_as(std::string_view text, T& value) {
  const auto [end, error] = from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

/// The features stand before the score, which is the first field that is one number.
Field features_of(std::string_view line, const std::vector<Field>& fields) {
  for (std::size_t i = kLeastFields - 1; i < fields.size(); ++i)
    if (float score = 0; reads_as(trimmed(line.substr(fields[i].at, fields[i].size)), score))
      return fields[i - 1];
  return fields[2];
}

}  // namespace

NBestEntry parse_n_best(std::string line, std::size_t number) {
  const std::string where = fmt::format("entry {} of the n-best list", number + 1);
  if (line.size() > kMaxLineBytes)
    throw Error(fmt::format("{} has more than {} bytes; shorten it", where, kMaxLineBytes));
  const std::vector<Field> fields = fields_of(line);
  if (fields.size() < kLeastFields)
    throw Error(fmt::format(
        "{} has {} field{} instead of four or more, 'N ||| text ||| features ||| score': {}", where,
        fields.size(), fields.size() == 1 ? "" : "s", in_quotes(line)));
  NBestEntry entry;
  const std::string_view text = line;
  if (const auto first = trimmed(text.substr(0, fields[0].size));
      !reads_as(first, entry.source_line))
    throw Error(fmt::format("{} begins with {} instead of the number of a source line, from 0",
                            where, in_quotes(first)));
  entry.text = unescaped(text.substr(fields[1].at, fields[1].size));
  entry.line = std::move(line);
  return entry;
}

std::string add_feature(const NBestEntry& entry, std::string_view name, double value,
                        std::string_view field) {
  const Field features = features_of(entry.line, fields_of(entry.line));
  std::string line = entry.line;
  line.insert(features.at + features.size, fmt::format("{}{}= {:g}", features.size == 0 ? "" : " ",
                                                       name, static_cast<float>(value)));
  if (!field.empty()) line.insert(features.at, fmt::format("{}{}", field, kFieldSeparator));
  return line;
}

void check_feature_name(std::string_view name) {
  if (name.empty() || name.find_first_of(" \t\r\n=|") != std::string_view::npos)
    throw Error(fmt::format(
        "a feature of an n-best list cannot be called {}: a name has no blanks, '=' or '|'",
        in_quotes(name)));
}

}  // namespace fuselage
