#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "fuselage/backends/batch.h"
#include "fuselage/backends/search.h"
#include "fuselage/base/api.h"
#include "fuselage/decoding/repetition.h"
#include "fuselage/decoding/sampling.h"
#include "fuselage/graph/graph.h"

namespace FUSELAGE_API fuselage {

/// The outputs of each step that a search needs, computed from a model's scores, "logits" or
/// "log_probs".
enum class SearchHead {
  log_probabilities,  ///< output kLogProbs
  k_best,             ///< outputs kBestScores and kBestWords, of the log-probabilities
  k_best_logits,      ///< the same outputs of the unnormalized scores, without log-softmax
};

/// The parts of a head besides its kind. Those of the second group need k_best.
struct SearchHeadOptions {
  std::int64_t k = 1;      ///< words per row; capped at the size of the vocabulary
  bool alignment = true;   ///< without, the output kAlignment is removed, and so the work for it
  bool shortlist = false;  ///< only the words of each sentence's shortlist have scores

  /// The log-probabilities of each model of an ensemble are kept (member_output).
  bool members = false;
  /// The scores that are ranked are penalized for words and n-grams that the hypothesis has.
  Repetition repetition = {};
  /// The penalty is for logits, before they are normalized, as in Transformers without a beam.
  bool penalizes_logits = false;
  std::vector<WordIds> forbidden = {};  ///< sequences of words that no hypothesis has
  std::int32_t start_word = -1;         ///< of the decoder, which the hypothesis then has; -1: none
  /// There is an output kListedScores, with the log-probabilities of words that each sentence
  /// lists: the words of its shortlist, else those that Batch::shortlists has. They are not
  /// penalized.
  bool listed = false;

  /// A word is drawn in place of the k best: the outputs have one score and one word. The graph has
  /// the input kSamplingStreams, and a search that reads it has a beam of 1.
  std::optional<Sampling> sampling = {};
  /// Words that are not produced. With sampling they are never drawn.
  std::vector<std::int32_t> suppressed = {};
  /// Log-probabilities are normalized over the words that may follow: without suppressed ones,
  /// those that would repeat an n-gram or complete a forbidden sequence, and the end symbol before
  /// min_length words. With a penalty they are penalized first. Those of listed words are not
  /// changed. In an ensemble each model's are, unless there is a penalty.
  bool renormalize = false;
  std::int32_t min_length = 0, end_id = 0;  ///< with renormalize
};

/// The graph with its scores replaced by the outputs of `head`. With a shortlist, log-probabilities
/// are normalized over its words, by each model of an ensemble on its own, and unused places among
/// the k best have the score -infinity and the word -1. Throws Error when the model has no scores,
/// for a shortlist when its log-probabilities are not the weighted sum of the log-softmax of
/// logits, and for a sampling that is out of range.
Graph with_search_head(const Graph& model, SearchHead head, const SearchHeadOptions& options = {});

/// Throws Error for a model without the output kAlignment.
void expect_alignment(const Graph& model);

}  // namespace fuselage
