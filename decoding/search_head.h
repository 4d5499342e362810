#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace fuselage {

/// What a search wants from each step, put behind a model's "logits".
enum class SearchHead {
  log_probabilities,  ///< output "log_probs": hypothesis f32[vocabulary]
  k_best,         ///< outputs "best_scores" f32[k] and "best_words" i32[k] of the log-probabilities
  k_best_logits,  ///< the same of the logits themselves, which saves the normalization
};

/// The graph with "logits" replaced by the outputs of `head`. `k` is capped at the vocabulary.
/// Without `alignment` the output of that name goes, so that no work is done for it alone.
Graph with_search_head(const Graph& model, SearchHead head, std::int64_t k = 1,
                       bool alignment = true);

}  // namespace fuselage
