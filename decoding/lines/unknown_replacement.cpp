#include "decoding/lines/unknown_replacement.h"

#include <algorithm>

#include "fuselage/base/error.h"

namespace fuselage {

std::vector<std::string> UnknownReplacement::texts(const Hypothesis& hypothesis,
                                                   std::span<const std::string> source) const {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < hypothesis.words.size(); ++i) {
    if (hypothesis.words[i] != target_.unknown_id()) continue;
    texts.resize(hypothesis.words.size());
    // Not the end symbol, which is last.
    const std::vector<float>& weights = hypothesis.alignment[i];
    check(weights.size() > source.size() && !source.empty(), "a source word has no text");
    const auto end = weights.begin() + static_cast<std::ptrdiff_t>(source.size());
    const auto aligned = std::max_element(weights.begin(), end) - weights.begin();
    texts[i] = dictionary_.translate(source[static_cast<std::size_t>(aligned)]);
  }
  return texts;
}

}  // namespace fuselage
