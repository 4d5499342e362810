#include "decoding/translation_notes.h"

#include <fmt/format.h>

namespace fuselage {
namespace {

// Measured means: the bundled model has -0.7 on text like its training data, -1.7 on lines in its
// target language and -1.9 on news, which it has not learnt; the six conformance models have -1.1
// to -1.55, and with a permuted vocabulary -1.3 to -1.93 (docs/check-a-model.md). Of fewer words,
// the mean may be low by chance.
constexpr double kImprobable = -1.6;
constexpr std::size_t kEnoughWords = 100;

}  // namespace

void TranslationNotes::add(std::size_t line, const Translation& translation) {
  lines_.add(line, translation.oddities);
  if (translation.text().empty()) return;
  const Hypothesis& best = translation.n_best.front().hypothesis;
  words_ += best.words.size();
  log_probability_ += best.log_probability;
}

std::vector<std::string> TranslationNotes::notes() const {
  std::vector<std::string> result = lines_.notes();
  if (only_lines_ || words_ < kEnoughWords) return result;
  const double mean = log_probability_ / static_cast<double>(words_);
  if (mean < kImprobable)
    result.push_back(fmt::format(
        "the model is unsure of these translations: the mean log-probability of a word is {:.2f}; "
        "see that its vocabularies and its configuration belong to its weights, and that it is "
        "made for such text",
        mean));
  return result;
}

}  // namespace fuselage
