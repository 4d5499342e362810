#pragma once

#include <cstdint>

#include "backends/search.h"
#include "graph/graph.h"

namespace fuselage {

/// What a search wants from each step, put behind a model's scores: its "logits" or "log_probs".
enum class SearchHead {
  log_probabilities,  ///< output kLogProbs
  k_best,             ///< outputs kBestScores and kBestWords, of the log-probabilities
  k_best_logits,  ///< the same of the scores as they are, which saves the normalization of logits
};

/// The graph with its scores replaced by the outputs of `head`. `k` is capped at the vocabulary.
/// Without `alignment` the output of that name goes, so that no work is done for it alone. Throws
/// Error when the model has no scores.
Graph with_search_head(const Graph& model, SearchHead head, std::int64_t k = 1,
                       bool alignment = true);

/// The same for the words of a shortlist that each sentence brings, as if there were no others:
/// log-probabilities are normalized over these, and a place that is left among the k best has the
/// score -infinity and the word -1. `head` is k_best or k_best_logits. Throws Error too for a model
/// that gives log-probabilities, since these are normalized over all words already.
Graph with_shortlist_head(const Graph& model, SearchHead head, std::int64_t k = 1,
                          bool alignment = true);

/// Throws Error for a model without the output kAlignment.
void expect_alignment(const Graph& model);

}  // namespace fuselage
