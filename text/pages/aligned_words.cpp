#include "text/pages/aligned_words.h"

#include <algorithm>

#include "text/word_boundaries.h"

namespace fuselage {
namespace {

std::vector<TextSpan> words_of(std::string_view text, std::span<const std::size_t> places) {
  std::vector<TextSpan> words;
  auto place = places.begin();
  for (const std::string_view token : word_tokens(text)) {
    TextSpan word;
    word.begin = static_cast<std::size_t>(token.data() - text.data());
    word.end = word.begin + token.size();
    while (place != places.end() && *place <= word.begin) ++place;
    for (; place != places.end() && *place < word.end; ++place) {
      if (*place == word.begin) continue;
      words.push_back({word.begin, *place});
      word.begin = *place;
    }
    words.push_back(word);
  }
  return words;
}

std::size_t overlap(const TextSpan& a, const TextSpan& b) {
  const std::size_t begin = std::max(a.begin, b.begin), end = std::min(a.end, b.end);
  return begin < end ? end - begin : 0;
}

/// The part of `token` that is in `word`.
float share(const TextSpan& token, const TextSpan& word) {
  return token.empty()
             ? 0
             : static_cast<float>(overlap(token, word)) / static_cast<float>(token.size());
}

}  // namespace

AlignedWords::AlignedWords(std::string_view sentence, std::span<const std::size_t> places,
                           std::string_view translation, const TextAlignment& alignment)
    : source_(words_of(sentence, places)), target_(words_of(translation, {})) {
  if (alignment.empty()) return;
  sums_.reserve(target_.size() * (source_.size() + 1));
  std::size_t first_token = 0;
  for (const TextSpan& word : target_) add_row(word, alignment, first_token);
}

/// Adds the sums of a word of the translation. Target tokens before `first_token` end before it.
void AlignedWords::add_row(const TextSpan& word, const TextAlignment& alignment,
                           std::size_t& first_token) {
  std::vector<float> tokens(alignment.source.size());
  while (first_token < alignment.target.size() && alignment.target[first_token].end <= word.begin)
    ++first_token;
  for (std::size_t t = first_token;
       t < alignment.target.size() && alignment.target[t].begin < word.end; ++t) {
    const float part = share(alignment.target[t], word);
    for (std::size_t s = 0; s < tokens.size(); ++s) tokens[s] += part * alignment.weights[t][s];
  }
  float sum = 0;
  sums_.push_back(sum);
  std::size_t first = 0;
  for (const TextSpan& source : source_) {
    while (first < tokens.size() && alignment.source[first].end <= source.begin) ++first;
    for (std::size_t s = first; s < tokens.size() && alignment.source[s].begin < source.end; ++s)
      sum += tokens[s] * share(alignment.source[s], source);
    sums_.push_back(sum);
  }
}

std::size_t AlignedWords::source_word(std::size_t place) const {
  return static_cast<std::size_t>(std::ranges::lower_bound(source_, place, {}, &TextSpan::begin) -
                                  source_.begin());
}

float AlignedWords::weight(std::size_t target, std::size_t from, std::size_t to) const {
  if (from >= to) return 0;
  if (!sums_.empty()) {
    const auto row = sums_.begin() + static_cast<std::ptrdiff_t>(target * (source_.size() + 1));
    return row[static_cast<std::ptrdiff_t>(to)] - row[static_cast<std::ptrdiff_t>(from)];
  }
  const float size = static_cast<float>(source_.size()) / static_cast<float>(target_.size());
  const float begin = static_cast<float>(target) * size, end = begin + size;
  return std::max(0.F, std::min(end, static_cast<float>(to)) -
                           std::max(begin, static_cast<float>(from))) /
         size;
}

}  // namespace fuselage
