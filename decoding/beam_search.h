#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "backends/executable.h"
#include "backends/search.h"

namespace fuselage {

/// Settings of a search, named as marian-decoder's options.
struct SearchOptions {
  std::int32_t beam_size = 12;
  float normalize = 0;          ///< exponent of the length that a score is divided by
  float word_penalty = 0;       ///< subtracted per word
  float max_length_factor = 3;  ///< at most this many words per source word, the end counted
  std::int32_t end_id = 0;
  std::vector<std::int32_t> suppressed;  ///< words that are never produced
  bool alignment = false;
};

/// A translation and how it came about.
struct Hypothesis {
  std::vector<std::int32_t> words;  ///< the end symbol included, unless the length limit cut it
  std::vector<float> word_scores;   ///< log-probability of each word
  float log_probability = 0;        ///< their sum
  float score = 0;                  ///< with word penalty and length normalization
  /// Weight of each source token for each word, word by word; empty unless asked for.
  std::vector<std::vector<float>> alignment;
};

/// Hypotheses of one sentence, best first; at most beam-size.
using NBest = std::vector<Hypothesis>;

/// Beam search as marian-decoder does it: a hypothesis that ends
/// leaves its place empty, so the beam shrinks, and search stops when it is empty; candidates are
/// ordered by score, then hypothesis, then word. Unlike there, the length limit is that of the
/// sentence, so that nothing depends on the others of a batch.
///
/// One worker and its buffers; between search() calls everything is reused, and within the steps of
/// one nothing is allocated. A worker that searches by itself does so, unless alignments are asked
/// for; the results are the same.
class BeamSearch {
 public:
  /// `executable` has the outputs of SearchHead::k_best with k = candidates_per_row(options).
  BeamSearch(const Executable& executable, SearchOptions options);

  /// How many words of each row a search with these options has to see.
  static std::int32_t candidates_per_row(const SearchOptions& options);

  /// Translates a batch; results stand in the order of the sentences, whose last word is the end
  /// symbol. With the outputs of with_shortlist_head, each sentence brings the words that its
  /// translation may use, ascending. Throws Error when scores are not numbers.
  std::vector<NBest> search(std::span<const WordIds> sentences,
                            std::span<const WordIds> shortlists = {});

 private:
  struct Live {
    std::int32_t sentence;
    std::int32_t token;  ///< newest; -1: none yet
    std::int32_t row;    ///< where it stood in the last step; -1: nowhere
    std::int32_t length;
    float path_score;
  };
  struct Candidate {
    float path_score;
    float score;
    std::int32_t row;  ///< of the step
    std::int32_t word;
  };

  void reserve(std::span<const WordIds> sentences, std::span<const WordIds> shortlists);
  void search_by_steps();
  void run_step();
  void expand();
  void collect_candidates(std::size_t begin, std::size_t end);
  void take_candidates(std::size_t begin, std::size_t end);
  void keep_alignment(std::int64_t row);
  std::vector<NBest> n_best(std::span<const WordIds> sentences) const;
  float final_score(const SearchRecord::Finished& finished) const;
  Hypothesis trace_back(const SearchRecord::Finished& finished, std::size_t source_length) const;
  bool suppressed(std::int32_t word) const;

  SearchOptions options_;
  std::unique_ptr<Worker> worker_;
  std::size_t best_scores_, best_words_, alignment_output_ = 0;

  SearchSettings settings_;
  SearchRecord record_;
  std::vector<Live> live_, next_live_;
  std::vector<Candidate> candidates_;
  std::vector<float> alignments_;
  std::vector<std::int64_t> token_alignment_;  ///< where each token's weights begin there
  std::vector<std::int64_t> alignment_begin_;  ///< per row of the step
  std::vector<std::int32_t> source_lengths_;
  std::vector<std::int32_t> parents_, parent_sentence_, hypothesis_parent_, words_, positions_;
};

}  // namespace fuselage
