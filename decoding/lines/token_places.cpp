#include "decoding/lines/token_places.h"

#include <algorithm>
#include <iterator>

namespace fuselage {
namespace {

bool is_space_byte(char byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r'); }

/// The places of the bytes of a text that are no white space.
std::vector<std::size_t> letters_of(std::string_view text) {
  std::vector<std::size_t> places;
  for (std::size_t at = 0; at < text.size(); ++at)
    if (!is_space_byte(text[at])) places.push_back(at);
  return places;
}

std::string without_spaces(std::string_view text) {
  std::string letters;
  std::ranges::remove_copy_if(text, std::back_inserter(letters), is_space_byte);
  return letters;
}

}  // namespace

std::vector<TokenSpan> places_of_pieces(std::string_view text,
                                        const std::vector<std::string>& pieces) {
  const std::vector<std::size_t> letters = letters_of(text);
  std::string of_pieces;
  std::vector<std::size_t> ends;
  for (const std::string& piece : pieces) {
    of_pieces += without_spaces(piece);
    ends.push_back(of_pieces.size());
  }
  const std::size_t total = of_pieces.size();
  // A vocabulary may drop the first characters, such as a byte order mark.
  std::size_t begin =
      total > 0 && without_spaces(text).ends_with(of_pieces) ? letters.size() - total : 0;
  const std::size_t first = begin;
  std::vector<TokenSpan> spans;
  for (std::size_t end : ends) {
    end = first + (total == 0 ? 0 : end * (letters.size() - first) / total);
    if (begin == end)
      spans.push_back(begin < letters.size() ? TokenSpan{letters[begin], letters[begin]}
                                             : TokenSpan{text.size(), text.size()});
    else
      spans.push_back({letters[begin], letters[end - 1] + 1});
    begin = end;
  }
  return spans;
}

std::vector<TokenSpan> places_of_words(std::string_view text, std::span<const WordId> words,
                                       const Vocabulary& vocabulary) {
  std::vector<TokenSpan> spans;
  std::size_t begin = 0;
  for (std::size_t count = 1; count <= words.size(); ++count) {
    const std::string start = vocabulary.decode(words.first(count));
    const auto [differs, rest] = std::ranges::mismatch(start, text);
    const std::size_t end = std::max(begin, static_cast<std::size_t>(differs - start.begin()));
    spans.push_back({begin, end});
    begin = end;
  }
  if (!spans.empty() && begin < text.size()) spans.back().end = text.size();
  for (TokenSpan& span : spans)
    while (span.begin < span.end && is_space_byte(text[span.begin])) ++span.begin;
  return spans;
}

}  // namespace fuselage
