#include "text/placeholders.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "text/tokenizers/byte_pieces.h"
#include "text/unicode.h"
#include "text/utf8.h"

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

/// Whether a sign before a letter or number makes a name of what is around it: "#tag", "AT&T",
/// "my_file".
bool joins(char32_t sign, bool within_word, char32_t next) {
  if (sign == U'$') return is_unicode_letter(next);
  constexpr std::u32string_view kAnywhere = U"#&@\\^`=<~°", kWithin = U"+_>";
  return is_of_word(next) && (kAnywhere.find(sign) != std::u32string_view::npos ||
                              (within_word && kWithin.find(sign) != std::u32string_view::npos));
}

/// The token without the punctuation around it.
TextSpan core_of(std::string_view line, TextSpan token) {
  constexpr std::u32string_view kBefore = U"([{\"'„“‚‘«‹", kBehind = U".,;:!?…)]}\"'”“’‘»›";
  std::vector<std::pair<char32_t, std::size_t>> all;  // with their numbers of bytes
  for (std::size_t at = token.begin; at < token.end;) {
    const Character next = first_character(line.substr(at));
    all.emplace_back(next.code, next.length);
    at += next.length;
  }
  std::size_t first = 0, last = all.size();
  while (first < last && kBefore.find(all[first].first) != std::u32string_view::npos)
    token.begin += all[first++].second;
  while (first < last && kBehind.find(all[last - 1].first) != std::u32string_view::npos)
    token.end -= all[--last].second;
  return token;
}

bool is_address(std::string_view token) {
  const std::size_t at = token.find('@');
  return token.find("://") != std::string_view::npos || token.starts_with("www.") ||
         (at != std::string_view::npos && at > 0 && at + 1 < token.size());
}

bool may_have_addresses(std::string_view line) {
  for (const std::string_view part : {"://", "www.", "@"})
    if (line.find(part) != std::string_view::npos) return true;
  return false;
}

/// The parts of a text between white space.
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

/// The first character of a text; 0: it is empty, or does not begin with UTF-8.
char32_t next_character(std::string_view text) {
  return text.empty() || utf8_sequence_length(text) == 0 ? 0 : first_character(text).code;
}

/// The last character of a text; 0: it is empty, or does not end with UTF-8.
char32_t last_character(std::string_view text) {
  if (text.empty()) return 0;
  std::size_t at = text.size() - 1;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
  return next_character(text.substr(at));
}

}  // namespace

Placeholders::Placeholders(const Vocabulary& vocabulary, std::vector<std::string> words)
    : vocabulary_(vocabulary), words_(std::move(words)) {
  for (WordId id = 0; id < vocabulary.size(); ++id)
    is_written_.push_back(id != vocabulary.unknown_id() && !byte_of_piece(vocabulary.word(id)));
  for (const std::string& word : words_) {
    if (word.empty() || tokens_of(word) != std::vector<TextSpan>{{0, word.size()}})
      throw Error(fmt::format("the placeholder {} must be a word", in_quotes(word)));
    if (std::ranges::count(vocabulary.encode(word), vocabulary.unknown_id()) > 0)
      throw Error(
          fmt::format("the placeholder {} is unknown to the model's vocabulary; name "
                      "another word",
                      in_quotes(word)));
    for (const std::string& other : words_)
      if (&other != &word && other.starts_with(word))
        throw Error(fmt::format("the placeholder {} begins the placeholder {}; name another word",
                                in_quotes(word), in_quotes(other)));
  }
}

bool Placeholders::is_written(std::span<const WordId> words) const {
  return std::ranges::all_of(words,
                             [&](WordId id) { return is_written_[static_cast<std::size_t>(id)]; });
}

bool Placeholders::is_written(std::string_view cluster) const {
  const Character first = first_character(cluster);
  if (first.length == cluster.size() && is_plain(first.code)) return true;
  // A capital letter that begins few words is one of the language all the same: "Ä".
  std::string small;
  for (const char32_t code : small_letters(first.code)) append_utf8(code, small);
  small += cluster.substr(first.length);
  return is_written(vocabulary_.encode(cluster)) || is_written(vocabulary_.encode(small));
}

/// The parts of a token, from the left to the right, that need a placeholder.
std::vector<TextSpan> Placeholders::parts_of_token(std::string_view line, TextSpan token) const {
  const std::string_view text = token.of(line);
  const TextSpan core = core_of(line, token);
  if (is_address(core.of(line))) return {core};
  if (is_written(vocabulary_.encode(text))) return {};
  std::vector<TextSpan> parts;
  std::size_t at = token.begin;
  char32_t before = 0;
  bool whole = false;
  for_each_grapheme(text, [&](std::string_view cluster) {
    const TextSpan span{at, at + cluster.size()};
    at = span.end;
    const char32_t code = first_character(cluster).code;
    const char32_t previous = std::exchange(before, code);
    if (is_written(cluster)) return;
    whole = whole || is_of_word(code) ||
            joins(code, is_of_word(previous), next_character(line.substr(at, token.end - at)));
    if (!parts.empty() && parts.back().end == span.begin)
      parts.back().end = span.end;
    else
      parts.push_back(span);
  });
  if (whole && !core.empty()) return {core};
  return parts;
}

Placeholders::Line Placeholders::put_into(std::string_view line,
                                          std::span<const WordId> words) const {
  Line result;
  auto word = words_.begin();
  std::size_t at = 0;
  const auto put = [&](TextSpan part) {
    word = std::find_if(word, words_.end(), [&](const std::string& each) {
      return line.find(each) == std::string_view::npos;
    });
    if (word == words_.end()) return;
    result.text.keep(line.substr(at, part.begin - at));
    at = part.end;
    Placeholder& made = result.used.emplace_back(
        Placeholder{.word = *word++,
                    .text = std::string(part.of(line)),
                    .joins_left = is_of_word(last_character(line.substr(0, part.begin))),
                    .joins_right = is_of_word(next_character(line.substr(part.end)))});
    result.text.replace(part.size(), fmt::format("{}{}{}", made.joins_left ? " " : "", made.word,
                                                 made.joins_right ? " " : ""));
  };
  if (!is_written(words) || may_have_addresses(line))
    for (const TextSpan token : tokens_of(line))
      for (const TextSpan part : parts_of_token(line, token)) put(part);
  result.text.keep(line.substr(at));
  return result;
}

ReplacedText without_placeholders(std::string_view translation, std::span<const Placeholder> used) {
  ReplacedText result;
  std::size_t last_end = 0;  // of the last placeholder
  for (std::size_t at = 0; at < translation.size();) {
    const auto found = std::ranges::find_if(used, [&](const Placeholder& each) {
      return translation.substr(at).starts_with(each.word);
    });
    if (found == used.end()) {
      result.keep(translation.substr(at++, 1));
      continue;
    }
    // A space that was put in between is left out again, where a letter is still beside it.
    const std::string_view before = translation.substr(last_end, at - last_end);
    const std::string_view behind = translation.substr(at + found->word.size());
    if (found->joins_left && before.ends_with(' ') &&
        is_of_word(last_character(before.substr(0, before.size() - 1))))
      result.drop_last();
    const bool takes_space = found->joins_right && behind.starts_with(' ') &&
                             is_of_word(next_character(behind.substr(1)));
    const std::size_t size = found->word.size() + (takes_space ? 1 : 0);
    result.replace(size, found->text);
    last_end = at += size;
  }
  return result;
}

}  // namespace fuselage
