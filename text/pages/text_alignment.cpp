#include "text/pages/text_alignment.h"

#include <algorithm>

namespace fuselage {
namespace {

/// The part of `whole` that is in `other`.
float shared_part(const TextSpan& whole, const TextSpan& other) {
  const std::size_t begin = std::max(whole.begin, other.begin);
  const std::size_t end = std::min(whole.end, other.end);
  return begin < end ? static_cast<float>(end - begin) / static_cast<float>(whole.size()) : 0;
}

}  // namespace

TextAlignment composed(const TextAlignment& first, const TextAlignment& second) {
  TextAlignment result{first.source, second.target, {}};
  if (first.empty() || second.empty()) return {};
  // From the tokens between, as the second model reads them, to the source.
  std::vector<std::vector<float>> between(second.source.size(),
                                          std::vector<float>(first.source.size()));
  std::size_t begin = 0;
  for (std::size_t m = 0; m < second.source.size(); ++m) {
    while (begin < first.target.size() && first.target[begin].end <= second.source[m].begin)
      ++begin;
    for (std::size_t t = begin;
         t < first.target.size() && first.target[t].begin < second.source[m].end; ++t) {
      const float part = shared_part(second.source[m], first.target[t]);
      for (std::size_t s = 0; s < between[m].size(); ++s)
        between[m][s] += part * first.weights[t][s];
    }
  }
  for (const std::vector<float>& row : second.weights) {
    std::vector<float>& weights = result.weights.emplace_back(first.source.size());
    for (std::size_t m = 0; m < row.size(); ++m)
      for (std::size_t s = 0; s < weights.size(); ++s) weights[s] += row[m] * between[m][s];
  }
  return result;
}

}  // namespace fuselage
