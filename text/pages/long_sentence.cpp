#include "text/pages/long_sentence.h"

#include <algorithm>
#include <array>
#include <cstdint>

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
    TextSpan part;
    std::size_t size = 0;
    const auto end_part = [&] {
      if (size > 0) parts_.push_back(part);
      size = 0;
    };
    for (const TextSpan& piece : pieces) {
      const std::size_t more = tokens(piece);
      if (more > max_tokens_) {
        end_part();
        divide(piece, place + 1);
        continue;
      }
      if (size + more > max_tokens_) end_part();
      if (size == 0) part.begin = piece.begin;
      part.end = piece.end;
      size += std::max<std::size_t>(1, more);
    }
    end_part();
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
