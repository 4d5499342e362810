#include "fuselage/decoding/pivot_translator.h"

#include <utility>

#include "decoding/lines/line_encoder.h"
#include "decoding/pages/aligned_lines.h"

namespace fuselage {

std::vector<Translation> PivotTranslator::translate(const std::vector<std::string>& lines) const {
  const std::vector<Translation> between = first_.translate(lines);
  std::vector<std::string> texts;
  for (const Translation& translation : between) texts.push_back(translation.text());
  std::vector<Translation> results = second_.translate(texts);
  for (std::size_t i = 0; i < results.size(); ++i) {
    Translation& result = results[i];
    result.source_words = between[i].source_words;
    result.source_bytes = between[i].source_bytes;
    std::vector<LineOddity> oddities = between[i].oddities;
    add_oddities(oddities, result.oddities);
    result.oddities = std::move(oddities);
    Hypothesis& best = result.n_best.front().hypothesis;
    if (best.alignment.empty()) continue;
    const TextAlignment both = composed(text_alignment(first_, lines[i], between[i]),
                                        text_alignment(second_, texts[i], result));
    const std::size_t words = best.words.size();
    best.alignment = with_end_symbols(both);
    best.alignment.resize(words, best.alignment.back());
  }
  return results;
}

}  // namespace fuselage
