#pragma once

#include <cstdint>

#include "fuselage/backends/search.h"
#include "fuselage/base/api.h"
#include "fuselage/graph/graph.h"

namespace FUSELAGE_API fuselage {

/// The outputs of each step that a search needs, computed from a model's scores, "logits" or
/// "log_probs".
enum class SearchHead {
  log_probabilities,              ///< output kLogProbs
  k_best,                         ///< outputs kBestScores and kBestWords, of the log-probabilities
  k_best_with_log_probabilities,  ///< the outputs of both, for the scores of given words
  k_best_logits,  ///< the same outputs of the unnormalized scores, without log-softmax
};

/// The graph with its scores replaced by the outputs of `head`. `k` is capped at the size of the
/// vocabulary. Without `alignment` the output kAlignment is removed, and so the work for it; only
/// with `members` it keeps the log-probabilities of each model of an ensemble (member_output).
/// Throws Error when the model has no scores.
Graph with_search_head(const Graph& model, SearchHead head, std::int64_t k = 1,
                       bool alignment = true, bool members = false);

/// The same for the words of each sentence's shortlist only: log-probabilities are normalized over
/// these words, by each model of an ensemble on its own, and unused places among the k best have
/// the score -infinity and the word -1. `head` is k_best or k_best_logits. Also throws Error for a
/// model whose log-probabilities are not the weighted sum of the log-softmax of logits.
Graph with_shortlist_head(const Graph& model, SearchHead head, std::int64_t k = 1,
                          bool alignment = true, bool members = false);

/// Throws Error for a model without the output kAlignment.
void expect_alignment(const Graph& model);

}  // namespace fuselage
