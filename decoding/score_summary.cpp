#include "fuselage/decoding/score_summary.h"

#include <array>
#include <cmath>

#include "base/suggest.h"

namespace fuselage {
namespace {

/// The names of the enumeration's values, then marian-scorer's other name of the first.
constexpr std::array<std::string_view, 5> kNames{"ce-mean", "ce-mean-words", "ce-sum", "perplexity",
                                                 "cross-entropy"};
constexpr auto kKinds = static_cast<std::size_t>(ScoreSummary::perplexity) + 1;

}  // namespace

std::span<const std::string_view> score_summary_names() { return kNames; }

ScoreSummary score_summary_from_string(std::string_view name) {
  return static_cast<ScoreSummary>(find_name("summary", name, kNames) % kKinds);
}

void ScoreTotals::add(const PairScore& score) {
  log_probability_ += score.log_probability;
  words_ += score.word_scores.size();
  ++lines_;
}

double ScoreTotals::summary(ScoreSummary kind) const {
  if (lines_ == 0) return 0;
  switch (kind) {
    case ScoreSummary::ce_mean:
      return -log_probability_ / static_cast<double>(lines_);
    case ScoreSummary::ce_mean_words:
      return -log_probability_ / static_cast<double>(words_);
    case ScoreSummary::ce_sum:
      return -log_probability_;
    case ScoreSummary::perplexity:
      break;
  }
  return std::exp(-log_probability_ / static_cast<double>(words_));
}

}  // namespace fuselage
