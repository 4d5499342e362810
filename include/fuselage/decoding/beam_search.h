#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "fuselage/backends/executable.h"
#include "fuselage/backends/search.h"
#include "fuselage/base/api.h"
#include "fuselage/decoding/translation.h"

namespace FUSELAGE_API fuselage {

class BestScores;
class FinalScores;

/// Settings of a search, named as marian-decoder's options.
struct SearchOptions {
  std::int32_t beam_size = 12;
  float normalize = 0;          ///< a score is divided by the length to the power of this
  float word_penalty = 0;       ///< subtracted from the score per word
  float max_length_factor = 3;  ///< maximum number of words per source word, end symbols included
  /// Maximum number of words after the prefix, in place of max_length_factor; 0: by the factor.
  std::int32_t max_words = 0;
  /// Hypotheses of each result, the best ones; 0: all, as many as the beam is wide.
  std::int32_t n_best = 0;
  /// Word scores are not above 0, as log-probabilities. A search then ends when no open hypothesis
  /// can be among the n_best any more.
  bool early_stop = false;
  std::int32_t end_id = 0;
  std::vector<std::int32_t> suppressed;  ///< words that are never produced
  bool alignment = false;
  /// Models of an ensemble whose log-probabilities are kept (Hypothesis::model_scores); 0: none.
  /// The executable then has the outputs member_output.
  std::size_t models = 0;
  /// The words of a prefix have their log-probabilities, as with marian-decoder's force-decode; the
  /// executable then has the output kListedScores. Otherwise they have the score 0 and do not count
  /// in the length by which a score is normalized.
  bool prefix_scores = false;
};

/// Hypotheses of one sentence, best first; at most SearchOptions::n_best, or beam-size.
using NBest = std::vector<Hypothesis>;

/// Beam search as in marian-decoder: a hypothesis that ends leaves the beam, which so shrinks, and
/// the search stops when the beam is empty. Candidates are ordered by score, then hypothesis, then
/// word. Unlike in marian-decoder, each sentence has its own length limit, so that a result does
/// not depend on the other sentences of a batch.
///
/// A sentence may have a prefix, words that all of its hypotheses begin with. While it lasts, the
/// sentence has one hypothesis, and limits of its length count from the end of the prefix.
///
/// Owns a worker and buffers, which search() calls reuse; steps do not allocate. If the worker has
/// a search of its own, it is used unless alignments or prefixes are given; the results are the
/// same.
class BeamSearch {
 public:
  /// `executable` has the outputs of SearchHead::k_best with k = candidates_per_row(options).
  BeamSearch(const Executable& executable, SearchOptions options);

  BeamSearch(BeamSearch&&) noexcept;
  BeamSearch& operator=(BeamSearch&&) noexcept;
  ~BeamSearch();

  /// Number of best words per row that a search with these options needs.
  static std::int32_t candidates_per_row(const SearchOptions& options);

  /// Translates a batch of sentences, each with the end symbol last, or empty for a model without a
  /// source; results are in the order of the sentences. With SearchHeadOptions::shortlist,
  /// `shortlists` has the words, ascending, that the translation of each sentence may use, besides
  /// those of its prefix. `prefixes` has the prefix of each sentence, or is empty. Throws Error
  /// when scores are not numbers.
  std::vector<NBest> search(std::span<const WordIds> sentences,
                            std::span<const WordIds> shortlists = {},
                            std::span<const WordIds> prefixes = {}) {
    return search(Batch{.sentences = sentences, .shortlists = shortlists}, prefixes);
  }
  /// The same for a model with several source texts, which Batch::inputs name; limits of the length
  /// follow from Batch::sentences.
  std::vector<NBest> search(const Batch& batch, std::span<const WordIds> prefixes);

  /// Steps of the last search; 0 if the worker searched by itself.
  std::size_t steps() const { return steps_; }

 private:
  struct Live {
    std::int32_t sentence;
    std::int32_t token;  ///< index of the last token; -1: none yet
    std::int32_t row;    ///< row in the last step; -1: none
    std::int32_t length;
    float path_score;
  };
  struct Candidate {
    float path_score;
    float score;
    std::int32_t row;  ///< row of the step
    std::int32_t word;
  };

  void list_words(const Batch& batch);
  void reserve(const Batch& batch);
  void search_by_steps();
  void run_step();
  void expand();
  void take_forced(std::size_t row, std::int32_t word);
  std::int32_t prefix_length(std::int32_t sentence) const;
  void collect_candidates(std::size_t begin, std::size_t end);
  void take_candidates(std::size_t begin, std::size_t end);
  void keep_alignment(std::int64_t row);
  void keep_model_scores(std::size_t row, std::int32_t word);
  float listed_score(std::size_t output, std::size_t row, std::int32_t word) const;
  float model_score(std::size_t model, std::size_t row, std::int32_t word) const;
  std::vector<NBest> n_best(std::span<const WordIds> sentences) const;
  float final_score(const SearchRecord::Finished& finished) const;
  void drop_if_decided(std::int32_t sentence, std::size_t first_open, std::size_t first_finished);
  Hypothesis trace_back(const SearchRecord::Finished& finished, std::size_t source_length) const;
  bool suppressed(std::int32_t word) const;

  SearchOptions options_;
  std::unique_ptr<Worker> worker_;
  std::size_t steps_ = 0;
  std::size_t best_scores_, best_words_, alignment_output_ = 0, listed_scores_ = 0;

  std::span<const WordIds> prefixes_;  ///< of the current batch
  SearchSettings settings_;
  SearchRecord record_;
  std::vector<Live> live_, next_live_;
  std::vector<Candidate> candidates_;
  std::unique_ptr<FinalScores> final_scores_;
  std::vector<BestScores> best_finished_;  ///< of each sentence; empty without early_stop
  std::vector<float> alignments_;
  std::vector<std::int64_t> token_alignment_;  ///< offset in alignments_ per token
  std::vector<std::int64_t> alignment_begin_;  ///< offset in the output per row of the step
  std::vector<std::size_t> model_outputs_;     ///< of each model of an ensemble
  std::vector<float> model_scores_;            ///< sums up to each token, model by model
  bool with_shortlists_ = false;               ///< the current batch has shortlists
  std::vector<WordIds> lists_;                 ///< words listed for each sentence, ascending
  std::vector<std::int64_t> list_begin_;       ///< offset in outputs for them per row of the step
  std::vector<std::int32_t> source_lengths_;
  std::vector<std::int32_t> parents_, parent_sentence_, hypothesis_parent_, words_, positions_;
};

}  // namespace fuselage
