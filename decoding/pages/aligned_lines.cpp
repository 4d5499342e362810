#include "decoding/pages/aligned_lines.h"

#include <algorithm>
#include <numeric>

namespace fuselage {
namespace {

std::vector<TextSpan> text_spans(const std::vector<TokenSpan>& tokens) {
  std::vector<TextSpan> spans;
  for (const TokenSpan& token : tokens) spans.push_back({token.begin, token.end});
  return spans;
}

/// Whether spans are in the order of a model that reads from right to left.
bool are_reversed(const std::vector<TextSpan>& spans) {
  return !spans.empty() && spans.front().begin > spans.back().begin;
}

}  // namespace

TextAlignment text_alignment(const Translator& translator, std::string_view line,
                             const Translation& translation) {
  const TranslatedText& best = translation.n_best.front();
  if (best.hypothesis.alignment.empty()) return {};
  const TokenSpans spans = translator.token_spans(line, best);
  TextAlignment result{text_spans(spans.source), text_spans(spans.target),
                       best.hypothesis.alignment};
  // Without the end symbols; a line that was cut has fewer tokens.
  result.weights.resize(result.target.size());
  for (std::vector<float>& weights : result.weights) weights.resize(result.source.size());
  if (are_reversed(result.source)) {
    std::ranges::reverse(result.source);
    for (std::vector<float>& weights : result.weights) std::ranges::reverse(weights);
  }
  if (are_reversed(result.target)) {
    std::ranges::reverse(result.target);
    std::ranges::reverse(result.weights);
  }
  return result;
}

std::vector<std::vector<float>> with_end_symbols(const TextAlignment& alignment) {
  std::vector<std::vector<float>> weights = alignment.weights;
  weights.emplace_back(alignment.source.size());
  for (std::vector<float>& row : weights)
    row.push_back(std::max(0.F, 1 - std::accumulate(row.begin(), row.end(), 0.F)));
  return weights;
}

}  // namespace fuselage
