#include "text/terms/terminology.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "base/files/compression.h"
#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "text/lines.h"
#include "text/utf8.h"
#include "text/word_boundaries.h"

namespace fuselage {

Terminology::Terminology(std::string_view bytes, const std::string& name, const Vocabulary* source)
    : source_(source) {
  nodes_.emplace_back();
  for_each_line(bytes, [&](std::string_view line, std::size_t number) {
    if (!line.empty()) add_line(line, fmt::format("{}:{}", name, number));
  });
  if (entries_.empty())
    throw Error(
        fmt::format("{}: there is no term in it; write lines of a source term, a tab, and "
                    "its translation",
                    name));
}

std::string Terminology::normalized(std::string_view text) const {
  return source_ == nullptr ? std::string(text) : source_->normalized(text);
}

void Terminology::add_line(std::string_view line, const std::string& where) {
  if (!is_valid_utf8(line))
    throw Error(fmt::format("{}: the line is not valid UTF-8, or has NUL in it", where));
  std::vector<std::string_view> fields;
  for (std::size_t begin = 0; begin <= line.size();) {
    const std::size_t end = std::min(line.find('\t', begin), line.size());
    fields.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
  const auto is_blank = [](std::string_view field) { return word_tokens(field).empty(); };
  if (fields.size() < 2 || std::ranges::any_of(fields, is_blank))
    throw Error(fmt::format(
        "{}: {} fields, {} of them empty; write a source term, a tab, and its translation, and "
        "further forms of the translation after further tabs",
        where, fields.size(), std::ranges::count_if(fields, is_blank)));
  const std::string term = normalized(fields[0]);
  const std::vector<std::string_view> tokens = word_tokens(term);
  if (tokens.empty())
    throw Error(fmt::format("{}: the model's vocabulary leaves nothing of the term {}", where,
                            in_quotes(fields[0])));
  if (tokens.size() > kMaxSourceTermTokens)
    throw Error(fmt::format("{}: the term has {} words and signs, but at most {} are looked for",
                            where, tokens.size(), kMaxSourceTermTokens));
  std::size_t at = 0;
  for (const std::string_view token : tokens) {
    const auto [child, is_new] = nodes_[at].children.try_emplace(std::string(token), nodes_.size());
    at = child->second;
    if (is_new) nodes_.emplace_back();
  }
  if (nodes_[at].entry == kNone) {
    nodes_[at].entry = entries_.size();
    entries_.push_back({std::string(fields[0]), {}});
  }
  std::vector<std::string>& forms = entries_[nodes_[at].entry].forms;
  if (forms.size() + fields.size() - 1 > kMaxForms)
    throw Error(fmt::format("{}: '{}' has {} forms of its translation, but at most {} are tried",
                            where, fields[0], forms.size() + fields.size() - 1, kMaxForms));
  forms.insert(forms.end(), fields.begin() + 1, fields.end());
}

Terminology::Found Terminology::longest_at(const std::vector<std::string_view>& tokens,
                                           std::size_t first, std::string_view first_token) const {
  Found found;
  std::size_t at = 0;
  for (std::size_t i = first; i < tokens.size(); ++i) {
    const auto child = nodes_[at].children.find(i == first ? first_token : tokens[i]);
    if (child == nodes_[at].children.end()) break;
    at = child->second;
    if (nodes_[at].entry != kNone) found = {nodes_[at].entry, i - first + 1};
  }
  return found;
}

/// The places in a line of the tokens of its normalized text. From both ends on, each token of the
/// line is normalized by itself, as long as the result is the next of `tokens`.
std::vector<std::optional<TextSpan>> Terminology::places_in(
    std::string_view line, std::span<const std::string_view> tokens) const {
  const std::vector<std::string_view> in_line = word_tokens(line);
  std::vector<std::optional<TextSpan>> places(tokens.size());
  // Whether a token of the line gives the first of those that are left, or the last.
  const auto takes = [&](std::string_view token, std::size_t& begin, std::size_t& end, bool last) {
    const std::string text = normalized(token);
    const std::vector<std::string_view> given = word_tokens(text);
    if (given.size() > end - begin) return false;
    const std::size_t at = last ? end - given.size() : begin;
    if (!std::ranges::equal(given, tokens.subspan(at, given.size()))) return false;
    const auto place = static_cast<std::size_t>(token.data() - line.data());
    std::fill_n(places.begin() + static_cast<std::ptrdiff_t>(at), given.size(),
                TextSpan{place, place + token.size()});
    (last ? end : begin) = last ? at : at + given.size();
    return true;
  };
  std::size_t begin = 0, end = tokens.size();
  std::size_t first = 0, last = in_line.size();
  while (first < last && takes(in_line[first], begin, end, /*last=*/false)) ++first;
  while (first < last && takes(in_line[last - 1], begin, end, /*last=*/true)) --last;
  return places;
}

std::vector<Terminology::Occurrence> Terminology::occurrences(std::string_view line) const {
  const std::string text = normalized(line);
  const std::vector<std::string_view> tokens = word_tokens(text);
  std::vector<std::optional<TextSpan>> places;
  const auto place_of = [&](std::size_t first, std::size_t count) -> std::optional<TextSpan> {
    if (places.empty()) places = places_in(line, tokens);
    const auto &begin = places[first], &end = places[first + count - 1];
    if (!begin || !end) return std::nullopt;
    return TextSpan{begin->begin, end->end};
  };
  std::vector<Occurrence> found;
  for (std::size_t i = 0; i < tokens.size();) {
    Found longest = longest_at(tokens, i, tokens[i]);
    if (i == 0 && tokens[0][0] >= 'A' && tokens[0][0] <= 'Z') {
      std::string small(tokens[0]);
      small[0] = static_cast<char>(small[0] - 'A' + 'a');
      if (const Found other = longest_at(tokens, 0, small); other.tokens > longest.tokens)
        longest = other;
    }
    if (longest.entry != kNone) found.push_back({longest.entry, place_of(i, longest.tokens)});
    i += std::max<std::size_t>(1, longest.tokens);
  }
  return found;
}

std::vector<std::size_t> Terminology::find(std::string_view line) const {
  std::vector<std::size_t> found;
  std::unordered_set<std::size_t> seen;
  for (const Occurrence& each : occurrences(line))
    if (seen.insert(each.entry).second) found.push_back(each.entry);
  return found;
}

Terminology load_terminology(const std::string& path, const Vocabulary* source) {
  return {read_text(path, kMaxTerminologyBytes), path, source};
}

}  // namespace fuselage
