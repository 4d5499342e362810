#include "text/placeholders/unwritten_parts.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "text/tokenizers/byte_pieces.h"
#include "text/unicode.h"
#include "text/word_boundaries.h"

namespace fuselage {
namespace {

bool is_ascii(char32_t code) { return code < 0x80; }

/// Whether words, numbers or names have the character.
bool is_of_word(char32_t code) {
  return is_unicode_letter(code) || is_unicode_number(code) || is_combining_mark(code);
}

/// The characters that every model writes well enough by itself, even in bytes.
bool is_plain(char32_t code) {
  if (is_ascii(code)) return is_of_word(code);
  constexpr std::u32string_view kDashes = U"‐‑‒–—―";
  return is_unicode_quote(code) || is_unicode_bracket(code) ||
         kDashes.find(code) != std::u32string_view::npos;
}

/// Signs of plain text that models write in bytes, by themselves.
bool is_common_sign(char32_t code) { return code == U'%' || code == U'&'; }

/// Whether a sign makes a name of what is around it: before a letter or number, "#tag", "AT&T",
/// "my_file", or behind a letter, "C#", "C++".
bool joins(char32_t previous, char32_t sign, char32_t next) {
  if (sign == U'$') return is_unicode_letter(next);
  if (sign == U'#' || sign == U'+')
    if (is_unicode_letter(previous) && !is_of_word(next)) return true;
  const bool within_word = is_of_word(previous);
  constexpr std::u32string_view kAnywhere = U"#&@\\^`=<~°", kWithin = U"+_>";
  return is_of_word(next) && (kAnywhere.find(sign) != std::u32string_view::npos ||
                              (within_word && kWithin.find(sign) != std::u32string_view::npos));
}

bool may_have_addresses(std::string_view line) {
  for (const std::string_view part : {"://", "www.", "@"})
    if (line.find(part) != std::string_view::npos) return true;
  return false;
}

bool is_mail_address(std::string_view text) {
  const std::size_t sign = text.find('@');
  return sign != std::string_view::npos && sign > 0 && sign + 1 < text.size();
}

/// Whether the name of a scheme has the letter: "https" of "https://".
bool is_of_scheme(char letter) {
  return is_ascii(static_cast<unsigned char>(letter)) &&
         (is_of_word(static_cast<unsigned char>(letter)) || letter == '+');
}

/// Adds a part, to the last one if it is beside it.
void add_part(TextSpan part, std::vector<TextSpan>& parts) {
  if (!parts.empty() && parts.back().end == part.begin)
    parts.back().end = part.end;
  else
    parts.push_back(part);
}

/// Calls `action` with the parts between the elements for which `separates` is true.
template <typename Elements, typename Separates, typename Action>
void for_each_between(Elements all, const Separates& separates, const Action& action) {
  while (!all.empty()) {
    const auto end = std::ranges::find_if(all, separates);
    const auto size = static_cast<std::size_t>(end - all.begin());
    if (size > 0) action(all.first(size));
    all = all.subspan(std::min(size + 1, all.size()));
  }
}

}  // namespace

std::vector<TextSpan> tokens_of(std::string_view line) {
  std::vector<TextSpan> tokens;
  std::optional<std::size_t> begin;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t space = space_length(line.substr(at));
    if (space == 0 && !begin) begin = at;
    if (space > 0 && begin) tokens.push_back({*std::exchange(begin, std::nullopt), at});
    at += space > 0 ? space : first_character(line.substr(at)).length;
  }
  if (begin) tokens.push_back({*begin, line.size()});
  return tokens;
}

UnwrittenParts::UnwrittenParts(const Vocabulary& vocabulary) : vocabulary_(vocabulary) {
  for (WordId id = 0; id < vocabulary.size(); ++id)
    is_written_.push_back(id != vocabulary.unknown_id() && !byte_of_piece(vocabulary.word(id)));
}

bool UnwrittenParts::may_be_in(std::string_view line, std::span<const WordId> words) const {
  return !is_written(words) || may_have_addresses(line);
}

bool UnwrittenParts::is_written(std::span<const WordId> words) const {
  return std::ranges::all_of(words,
                             [&](WordId id) { return is_written_[static_cast<std::size_t>(id)]; });
}

bool UnwrittenParts::is_written(std::string_view cluster) const {
  const Character first = first_character(cluster);
  if (first.length == cluster.size() && is_plain(first.code)) return true;
  // A capital letter that begins few words is one of the language all the same: "Ä".
  std::string small;
  for (const char32_t code : small_letters(first.code)) append_utf8(code, small);
  small += cluster.substr(first.length);
  return is_written(vocabulary_.encode(cluster)) || is_written(vocabulary_.encode(small));
}

std::vector<UnwrittenParts::Cluster> UnwrittenParts::clusters_of(std::string_view line,
                                                                 TextSpan token) const {
  std::vector<Cluster> clusters;
  std::size_t at = token.begin;
  for_each_grapheme(token.of(line), [&](std::string_view cluster) {
    clusters.push_back({.span = {at, at + cluster.size()},
                        .first = first_character(cluster),
                        .is_written = is_written(cluster)});
    at += cluster.size();
  });
  return clusters;
}

/// Whether names and addresses end at a cluster, since words of its script have no spaces between:
/// letters, and punctuation of East Asia.
bool UnwrittenParts::is_by_itself(std::string_view line, const Cluster& cluster) {
  const char32_t code = cluster.first.code;
  return cluster.is_written && !begins_with_letter(cluster.span.of(line)) &&
         (is_of_word(code) || (code >= 0x3000 && code <= 0xFFEF));
}

/// Whether names end at a cluster. Apostrophes are within names.
bool UnwrittenParts::is_between_names(const Cluster& cluster) {
  constexpr std::u32string_view kSigns = U"‒–—―…\"", kApostrophes = U"‘’";
  return cluster.is_written &&
         (kSigns.find(cluster.first.code) != std::u32string_view::npos ||
          is_unicode_bracket(cluster.first.code) ||
          (is_unicode_quote(cluster.first.code) &&
           kApostrophes.find(cluster.first.code) == std::u32string_view::npos));
}

/// Clusters without the punctuation around them.
TextSpan UnwrittenParts::core_of(Clusters clusters) {
  constexpr std::u32string_view kBefore = U"([{\"'„“‚‘«‹", kBehind = U".,;:!?…)]}\"'”“’‘»›";
  const auto is_one_of = [](std::u32string_view signs, const Cluster& cluster) {
    return cluster.first.length == cluster.span.size() &&
           signs.find(cluster.first.code) != std::u32string_view::npos;
  };
  const std::size_t end = clusters.back().span.end;
  while (!clusters.empty() && is_one_of(kBefore, clusters.front())) clusters = clusters.subspan(1);
  while (!clusters.empty() && is_one_of(kBehind, clusters.back()))
    clusters = clusters.first(clusters.size() - 1);
  if (clusters.empty()) return {end, end};
  return {clusters.front().span.begin, clusters.back().span.end};
}

/// The address of the Web in a part of a token, up to the end; empty: there is none.
TextSpan UnwrittenParts::address_in(std::string_view line, Clusters clusters) {
  TextSpan address = core_of(clusters);
  const std::string_view text = address.of(line);
  const std::size_t scheme = text.find("://");
  if (scheme == std::string_view::npos) return text.starts_with("www.") ? address : TextSpan{};
  std::size_t begin = address.begin + scheme;
  while (begin > address.begin && is_of_scheme(line[begin - 1])) --begin;
  const auto cluster = std::ranges::upper_bound(clusters, begin, {},
                                                [](const Cluster& each) { return each.span.end; });
  address.begin = cluster->span.begin;
  return address;
}

/// The parts of clusters that may be a name, a formula or an address of mail, or the whole one.
std::vector<TextSpan> UnwrittenParts::parts_of_name(std::string_view line, Clusters clusters) {
  std::vector<TextSpan> parts;
  bool is_name = false;
  for (std::size_t i = 0; i < clusters.size(); ++i) {
    const Cluster& each = clusters[i];
    if (each.is_written) continue;
    const char32_t previous = i > 0 ? clusters[i - 1].first.code : 0;
    const char32_t next = i + 1 < clusters.size() ? clusters[i + 1].first.code : 0;
    is_name = is_name || is_of_word(each.first.code) || joins(previous, each.first.code, next);
    if (!is_common_sign(each.first.code)) add_part(each.span, parts);
  }
  const TextSpan name = core_of(clusters);
  is_name = is_name || is_mail_address(name.of(line));
  return is_name && !name.empty() ? std::vector<TextSpan>{name} : parts;
}

std::vector<TextSpan> UnwrittenParts::of_token(std::string_view line, TextSpan token) const {
  if (!may_be_in(token.of(line), vocabulary_.encode(token.of(line)))) return {};
  std::vector<TextSpan> parts;
  const auto add_names = [&](Clusters clusters) {
    for_each_between(clusters, is_between_names, [&](Clusters name) {
      for (const TextSpan part : parts_of_name(line, name)) add_part(part, parts);
    });
  };
  const std::vector<Cluster> all = clusters_of(line, token);
  const auto separates = [&](const Cluster& each) { return is_by_itself(line, each); };
  for_each_between(Clusters(all), separates, [&](Clusters run) {
    const TextSpan address = address_in(line, run);
    const auto begin_of = [](const Cluster& each) { return each.span.begin; };
    const auto first = std::ranges::lower_bound(run, address.begin, {}, begin_of);
    const auto last = std::ranges::lower_bound(run, address.end, {}, begin_of);
    add_names({run.begin(), first});
    if (!address.empty()) add_part(address, parts);
    add_names({last, run.end()});
  });
  return parts;
}

}  // namespace fuselage
