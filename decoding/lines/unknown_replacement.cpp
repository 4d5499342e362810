#include "decoding/lines/unknown_replacement.h"

#include "fuselage/base/error.h"

namespace fuselage {

std::vector<std::string> UnknownReplacement::texts(const Hypothesis& hypothesis,
                                                   std::span<const std::string> source,
                                                   std::span<const std::string> prefix) const {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < hypothesis.words.size(); ++i) {
    if (hypothesis.words[i] != target_.unknown_id()) continue;
    texts.resize(hypothesis.words.size());
    texts[i] = i < prefix.size() ? prefix[i] : aligned_word(hypothesis.alignment[i], source);
  }
  return texts;
}

/// The word with the largest weight; not the end symbol, which is last, nor a lone space.
std::string_view UnknownReplacement::aligned_word(std::span<const float> weights,
                                                  std::span<const std::string> source) const {
  check(weights.size() == source.size() + 1, "a source word has no text, or a text no word");
  std::string_view best;
  float largest = -1;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i].empty() || weights[i] <= largest) continue;
    largest = weights[i];
    best = source[i];
  }
  return dictionary_.translate(best);
}

}  // namespace fuselage
