#include "server/text/sentences.h"

#include <algorithm>

#include "fuselage/decoding/page_translator.h"
#include "text/pages/readable_text.h"

namespace fuselage {
namespace {

/// Longer parts of sentences are divided, however few tokens they have: lines have a limit too.
constexpr std::size_t kMaxPartBytes = 16'384;

/// Where the characters of a text in UTF-8 begin, and its end.
std::vector<std::size_t> character_begins(std::string_view text) {
  std::vector<std::size_t> begins;
  for (std::size_t i = 0; i < text.size(); ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) begins.push_back(i);
  begins.push_back(text.size());
  return begins;
}

}  // namespace

PageReading page_reading(const ServedModel& model) {
  const Translator& translator = model.translator();
  return {.splitter = model.splitter(),
          .max_tokens = std::min(kMaxSentenceTokens, *translator.options().max_length),
          .count_tokens = [&translator](std::string_view sentence) {
            return sentence.size() > kMaxPartBytes ? sentence.size()
                                                   : translator.count_tokens(sentence);
          }};
}

std::vector<PlacedSentence> placed_sentences(const ServedModel& model, std::string_view text) {
  std::vector<PlacedSentence> sentences;
  for (const TextSpan& place : plain_sentences(text, page_reading(model)))
    sentences.push_back({place, readable_text(place.of(text)).text});
  return sentences;
}

CharacterPlaces::CharacterPlaces(std::string_view text) : bytes_(character_begins(text)) {}

CharacterPlaces::CharacterPlaces(std::string_view text, TextSpan sentence)
    : before_(character_begins(text.substr(0, sentence.begin)).size() - 1),
      bytes_(readable_text(sentence.of(text), character_begins(sentence.of(text))).places) {}

TextSpan CharacterPlaces::of(TextSpan bytes) const {
  const auto place_of = [&](auto at) {
    return before_ + static_cast<std::size_t>(std::distance(bytes_.begin(), at));
  };
  // White space that the model does not read is before the character that follows it.
  const auto begin = std::ranges::upper_bound(bytes_, bytes.begin);
  const auto end = std::ranges::lower_bound(bytes_, bytes.end);
  const TextSpan span{place_of(begin == bytes_.begin() ? begin : std::prev(begin)),
                      place_of(end == bytes_.end() ? std::prev(end) : end)};
  return {std::min(span.begin, span.end), span.end};
}

}  // namespace fuselage
