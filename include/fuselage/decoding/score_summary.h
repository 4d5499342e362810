#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "fuselage/base/api.h"
#include "fuselage/decoding/translation.h"

namespace FUSELAGE_API fuselage {

/// A number for the scores of a whole text, as in marian-scorer's option. All are of the words'
/// log-probabilities, without normalization and word penalty.
enum class ScoreSummary : std::uint8_t {
  ce_mean,        ///< cross-entropy per line
  ce_mean_words,  ///< cross-entropy per word, end symbols included
  ce_sum,         ///< cross-entropy of the text
  perplexity,     ///< exp of the cross-entropy per word
};

/// The names as in marian-scorer's option; its "cross-entropy" is ce-mean.
std::span<const std::string_view> score_summary_names();

/// Throws Error with the nearest name for another text.
ScoreSummary score_summary_from_string(std::string_view name);

/// The sums over the scores of a text.
class ScoreTotals {
 public:
  void add(const PairScore& score);

  /// 0 without scores.
  double summary(ScoreSummary kind) const;

 private:
  double log_probability_ = 0;
  std::uint64_t lines_ = 0, words_ = 0;
};

}  // namespace fuselage
