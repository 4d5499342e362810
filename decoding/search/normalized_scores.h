#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "decoding/search/word_scores.h"
#include "fuselage/graph/graph.h"
#include "models/architectures/scores.h"

namespace fuselage {

/// Words that cannot follow a hypothesis.
struct WordMask {
  std::vector<std::int32_t> suppressed = {};
  std::int32_t min_length = 0, end_id = 0;  ///< no end before this many words

  bool is_empty() const { return suppressed.empty() && min_length == 0; }
};

/// Scores of all words, of which those of a mask get such low ones that their probability is 0.
ValueId masked(Graph& graph, const WordScores& scores, const WordMask& mask);

/// What becomes of logits before they are normalized.
struct LogitChanges {
  WordMask mask = {};
  std::optional<ShortlistPaths> shortlist = {};     ///< other words are left out
  std::function<WordScores(WordScores)> last = {};  ///< of the words that are left; null: nothing

  bool are_none() const { return mask.is_empty() && !shortlist && last == nullptr; }
};

/// Adds to a graph a model's scores with changes of its logits, in an ensemble those of each model.
class NormalizedScores {
 public:
  NormalizedScores(Graph& graph, const ModelScores& given, LogitChanges changes);

  /// The scores of a model, log-probabilities unless it has logits and these are wanted. Throws
  /// Error for log-probabilities that are not the log-softmax of logits, or a sum of several times
  /// constants, and cannot be changed so.
  WordScores scores(bool wants_logits);

  /// Log-probabilities of the model, or of a model of an ensemble.
  ValueId log_probs(ValueId all);

 private:
  WordScores as_scores(ValueId value) const;
  ValueId logits(ValueId all);
  ValueId log_probs_of_logits(ValueId all);
  ValueId make_log_probs(ValueId all);

  Graph& graph_;
  ModelScores given_;
  DomainId hypotheses_;
  LogitChanges changes_;
  std::map<std::uint32_t, ValueId> done_;
};

}  // namespace fuselage
