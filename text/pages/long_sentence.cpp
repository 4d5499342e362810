#include "text/pages/long_sentence.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "text/unicode.h"
#include "text/utf8.h"

namespace fuselage {
namespace {

/// Places to cut a sentence, the best first.
enum class CutPlace : std::uint8_t { clause, comma, space, grapheme };

constexpr std::array kCutPlaces = {CutPlace::clause, CutPlace::comma, CutPlace::space,
                                   CutPlace::grapheme};

struct Mark {
  std::string_view text;
  CutPlace place;
  bool spaced;  ///< only before white space: "10:30", "1,000"
};

constexpr Mark kMarks[] = {
    {";", CutPlace::clause, true},       {":", CutPlace::clause, true},
    {"\u2013", CutPlace::clause, true},  {"\u2014", CutPlace::clause, false},
    {"\uFF1B", CutPlace::clause, false}, {"\uFF1A", CutPlace::clause, false},
    {"\u061B", CutPlace::clause, false}, {"\u3002", CutPlace::clause, false},
    {",", CutPlace::comma, true},        {"\uFF0C", CutPlace::comma, false},
    {"\u3001", CutPlace::comma, false},  {"\u060C", CutPlace::comma, false},
};

/// Whether there may be a cut of this kind, with spaces behind it, at the end of `before`.
bool is_cut(CutPlace place, std::string_view before, bool space_follows) {
  if (place == CutPlace::space) return space_follows;
  return std::ranges::any_of(kMarks, [&](const Mark& mark) {
    return mark.place == place && (space_follows || !mark.spaced) && before.ends_with(mark.text);
  });
}

/// The pieces of a text between the cuts of a kind, without white space around them.
std::vector<TextSpan> pieces_of(std::string_view text, TextSpan whole, CutPlace place) {
  std::vector<TextSpan> pieces;
  std::size_t begin = whole.begin;
  const auto cut_at = [&](std::size_t end) {
    if (const TextSpan piece = without_outer_space(text, {begin, end}); !piece.empty())
      pieces.push_back(piece);
    begin = end;
  };
  for (std::size_t at = whole.begin; at < whole.end;) {
    if (at > begin &&
        is_cut(place, text.substr(begin, at - begin), space_length(text.substr(at)) > 0))
      cut_at(at);
    at += std::max<std::size_t>(1, utf8_sequence_length(text.substr(at)));
  }
  cut_at(whole.end);
  return pieces;
}

class Divider {
 public:
  Divider(std::string_view text, std::size_t max_tokens, const TokenCount& count)
      : text_(text), max_tokens_(std::max<std::size_t>(1, max_tokens)), count_(count) {}

  std::vector<TextSpan> parts(TextSpan sentence) {
    divide(sentence, 0);
    return std::move(parts_);
  }

 private:
  std::size_t tokens(TextSpan span) const { return count_(span.of(text_)); }

  void divide(TextSpan span, std::size_t place) {
    if (kCutPlaces[place] == CutPlace::grapheme) return divide_word(span);
    const std::vector<TextSpan> pieces = pieces_of(text_, span, kCutPlaces[place]);
    std::size_t first = 0, size = 0;  // of the part so far
    for (std::size_t i = 0; i < pieces.size(); ++i) {
      const std::size_t more = tokens(pieces[i]);
      if (size > 0 && size + more > max_tokens_) {
        add_part(std::span(pieces).subspan(first, i - first));
        size = 0;
      }
      if (size == 0) first = i;
      if (more > max_tokens_)
        divide(pieces[i], place + 1);
      else
        size += std::max<std::size_t>(1, more);
    }
    if (size > 0) add_part(std::span(pieces).subspan(first));
  }

  /// A part of pieces, or of the halves of them: together they may have more tokens than one by
  /// one, where placeholders are too few for all.
  void add_part(std::span<const TextSpan> pieces) {
    const TextSpan part{pieces.front().begin, pieces.back().end};
    if (pieces.size() == 1 || tokens(part) <= max_tokens_) return parts_.push_back(part);
    add_part(pieces.first(pieces.size() / 2));
    add_part(pieces.subspan(pieces.size() / 2));
  }

  /// Cuts a word: tries a length and halves it until it fits, then goes on with twice the length
  /// that did.
  void divide_word(TextSpan word) {
    std::size_t bytes = 4 * max_tokens_;
    while (!word.empty()) {
      TextSpan part{word.begin, word.begin + clusters(word.of(text_), bytes)};
      while (tokens(part) > max_tokens_ && bytes > 1) {
        bytes /= 2;
        part.end = part.begin + clusters(part.of(text_), bytes);
      }
      parts_.push_back(part);
      word.begin = part.end;
      bytes = 2 * std::max(bytes, part.size());
    }
  }

  /// The bytes of the grapheme clusters at the beginning of a text that have at most `bytes`
  /// together, and of one at least.
  static std::size_t clusters(std::string_view text, std::size_t bytes) {
    GraphemeBreaker breaker;
    std::size_t end = 0, at = 0;
    char32_t last = 0;
    while (at < text.size()) {
      const bool valid = utf8_sequence_length(text.substr(at)) > 0;
      const Character next =
          valid ? first_character(text.substr(at)) : Character{.code = U'\uFFFD', .length = 1};
      if (at > 0 && breaker.breaks(last, next.code)) {
        if (at > bytes && end > 0) return end;
        end = at;
        if (at >= bytes) return end;
      }
      last = next.code;
      at += next.length;
    }
    return at <= bytes || end == 0 ? at : end;
  }

  std::string_view text_;
  std::size_t max_tokens_;
  const TokenCount& count_;
  std::vector<TextSpan> parts_;
};

}  // namespace

std::vector<TextSpan> divided_sentence(std::string_view text, TextSpan sentence,
                                       std::size_t max_tokens, const TokenCount& count) {
  if (count(sentence.of(text)) <= max_tokens) return {sentence};
  return Divider(text, max_tokens, count).parts(sentence);
}

}  // namespace fuselage
