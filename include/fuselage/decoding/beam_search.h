#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "fuselage/backends/executable.h"
#include "fuselage/backends/search.h"
#include "fuselage/base/api.h"
#include "fuselage/decoding/search_guide.h"
#include "fuselage/decoding/translation.h"
#include "fuselage/models/decode_defaults.h"

namespace FUSELAGE_API fuselage {

class FinalScores;
class TermAutomaton;
struct SentenceSearch;
struct TermState;

/// The coverage of a source token that no word is aligned with.
inline constexpr float kLeastCoverage = 1e-6f;

/// The largest SearchOptions::min_length.
inline constexpr std::int32_t kMaxMinLength = 1 << 20;

/// Settings of a search, named as marian-decoder's options.
struct SearchOptions {
  std::int32_t beam_size = 12;
  float normalize = 0;     ///< a score is divided by the length to the power of this
  float word_penalty = 0;  ///< subtracted from the score per word
  /// Added to the score of a finished hypothesis, with alignments: this times the sum, over the
  /// source tokens, of the logarithm of a token's weights over all words, at most 1 and at least
  /// kLeastCoverage. Not negative. See Wu et al. 2016, "Google's neural machine translation
  /// system", equation 14.
  float coverage_penalty = 0;
  float max_length_factor = 3;  ///< maximum number of words per source word, end symbols included
  /// Maximum number of words, those of a prefix not counted and those of `beginning` counted, in
  /// place of max_length_factor; 0: by the factor.
  std::int32_t max_words = 0;
  /// Words before the end symbol, counted in the same way, unless the limits above are lower or no
  /// other word has a score; 0 to kMaxMinLength. The search then runs step by step.
  std::int32_t min_length = 0;
  /// Words that all hypotheses begin with, before a prefix, and that results are given without: the
  /// word of a target language, for example. They have the score 0 and count in the length by which
  /// a score is normalized.
  std::vector<std::int32_t> beginning = {};
  /// A beam of 2 or more does not shrink: in each step the best open hypotheses take its places,
  /// and those that end with a rank within the beam are results, as in Transformers' generate().
  bool keep_beam = false;
  EarlyStopping early_stopping = EarlyStopping::never;  ///< with keep_beam
  /// At the length limit the end symbol is the only candidate, with a score of 0.
  bool forced_end = false;
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
  /// Guides may have terms, and the words of a prefix have their log-probabilities, as with
  /// marian-decoder's force-decode; the executable has the output kListedScores. Otherwise guides
  /// have prefixes only, whose words have the score 0 and do not count in the length by which a
  /// score is normalized.
  bool guided = false;
  /// By word: whether it goes on with the word before, so that a term does not end there; empty: no
  /// word does.
  std::vector<bool> continues_word = {};
};

/// Throws Error for numbers out of range.
void verify(const SearchOptions& options);

/// Hypotheses of one sentence, best first; at most SearchOptions::n_best, or beam-size.
using NBest = std::vector<Hypothesis>;

/// Beam search as in marian-decoder: a hypothesis that ends leaves the beam, which so shrinks, and
/// the search stops when the beam is empty. Candidates are ordered by score, then hypothesis, then
/// word. Unlike in marian-decoder, each sentence has its own length limit, so that a result does
/// not depend on the other sentences of a batch.
///
/// A guide may state a prefix, words that all hypotheses of a sentence begin with. While it lasts,
/// the sentence has one hypothesis, and limits of its length count from the end of the prefix.
///
/// A guide may also state terms. Their next words are candidates at every step, hypotheses without
/// all of them do not end, and the beam is divided among hypotheses by the number of words of terms
/// that they have: dynamic beam allocation (Post and Vilar 2018, "Fast lexically constrained
/// decoding with dynamic beam allocation for neural machine translation", section 3), in the order
/// of Hu et al. 2019 ("Improved lexically constrained decoding for translation and monolingual
/// rewriting", section 4). At the length limit a hypothesis ends without its terms; such are last
/// among the results.
///
/// A guide may further state a narrower beam and the length of its n-best list: sentences with
/// different ones share steps, and a result is that of a search with these options.
///
/// A search takes batches, or, where has_places() says so, sentences that come and go: between two
/// steps places of sentences that ended go to others. A result is the same in any case.
///
/// Owns a worker and buffers, which search() calls reuse; steps do not allocate. If the worker has
/// a search of its own, it is used unless alignments or guides are given; the results are the same.
class BeamSearch {
 public:
  /// `executable` has the outputs of SearchHead::k_best with k = candidates_per_row(options);
  /// `device` is the number of one of its devices.
  BeamSearch(const Executable& executable, SearchOptions options, std::size_t device = 0);

  BeamSearch(BeamSearch&&) noexcept;
  BeamSearch& operator=(BeamSearch&&) noexcept;
  ~BeamSearch();

  /// Number of best words per row that a search with these options needs.
  static std::int32_t candidates_per_row(const SearchOptions& options);

  /// Translates a batch of sentences, each with the end symbol last, or empty for a model without a
  /// source; results are in the order of the sentences. With SearchHeadOptions::shortlist,
  /// `shortlists` has the words, ascending, that the translation of each sentence may use, besides
  /// those of its guide. `guides` has the guide of each sentence, or is empty. Throws Error when
  /// scores are not numbers, and for more terms than kMaxTerms or kMaxTermWords.
  std::vector<NBest> search(std::span<const WordIds> sentences,
                            std::span<const WordIds> shortlists = {},
                            std::span<const SearchGuide> guides = {}) {
    return search(Batch{.sentences = sentences, .shortlists = shortlists}, guides);
  }
  /// The same for a model with several source texts, which Batch::inputs name; limits of the length
  /// follow from Batch::sentences.
  std::vector<NBest> search(const Batch& batch, std::span<const SearchGuide> guides);

  /// Steps of the last search; 0 if the worker searched by itself.
  std::size_t steps() const { return steps_; }

  /// Whether sentences can come and go.
  bool has_places() const { return worker_->has_places(); }
  /// Ends all searches and makes a store of `sentences` places, with pages for `source_words` words
  /// of sentences in all, and rows for the words of hypotheses of sentences of their average
  /// length, or of one sentence of all these words behind a prefix of `prefix` words; with nullopt
  /// no sentence has a guide, and a worker may search by itself. Precondition: has_places(). Throws
  /// OutOfMemory.
  void open(std::int32_t sentences, std::int64_t source_words,
            std::optional<std::size_t> prefix = 0);
  /// A place for a sentence of `source_words` words, in the longest of its texts; nullopt if its
  /// longest possible search does not fit the store beside those of the others.
  std::optional<std::int32_t> reserve(std::int64_t source_words, const SearchGuide& guide);
  /// Begins the searches of a batch of sentences in places of their own. Throws as search() does;
  /// the places are then to be dropped.
  void admit(const Batch& batch, std::span<const SearchGuide> guides,
             std::span<const std::int32_t> places);
  /// Places that are taken.
  std::size_t taken() const;
  /// Live hypotheses; 0 if the worker searches by itself.
  std::size_t live() const { return live_.size(); }
  /// Runs one step of all searches; the places of those that end with it, or that are known by now
  /// to have ended, if the worker searches by itself. Throws Error when scores
  /// are not numbers; open() is needed then.
  std::span<const std::int32_t> step();
  /// The result of a search that has ended; frees its place.
  NBest take(std::int32_t place);
  /// Ends a search without a result, or one that has not begun, and frees its place.
  void drop(std::int32_t place);

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
  /// Of a candidate of a sentence with terms.
  struct Rank {
    std::int64_t bank;  ///< words of terms that it has
    std::size_t rank;   ///< among the candidates of its bank
    std::size_t candidate;
  };

  /// Whether the options need a search step by step on the host.
  bool needs_steps() const;
  bool keeps_beam(const SentenceSearch& sentence) const;
  SentenceSearch& of(const Live& live);
  const SentenceSearch& of(const Live& live) const;
  /// Words at the beginning of a hypothesis that do not count in its length.
  std::int32_t not_counted(const SentenceSearch& sentence) const;
  std::int32_t length_limit(std::int32_t source_length) const;
  std::int32_t beam_of(const SearchGuide& guide) const;
  std::int64_t words_for(std::int64_t source_words, std::size_t prefix, std::int32_t beam) const;
  void begin_sentence(SentenceSearch& sentence, std::int32_t source_length,
                      const SearchGuide& guide);
  void reserve_record(SentenceSearch& sentence) const;
  void begin_batch(const Batch& batch, std::span<const SearchGuide> guides);
  bool has_lists() const { return with_shortlists_ || options_.guided; }
  static WordIds listed_words(const SentenceSearch& sentence, WordIds list);
  void reserve_steps(std::size_t sentences);
  void begin_in_places(std::span<const std::int32_t> places);
  void free_place(std::int32_t place);
  void begin_search(std::int32_t sentence);
  void search_by_steps();
  void run_step();
  void expand();
  void expand_sentence(std::size_t begin, std::size_t end);
  void take_forced(std::size_t row, std::int32_t word);
  TermState after(const SentenceSearch& sentence, std::size_t row, std::int32_t word) const;
  void force_ends(std::size_t begin, std::size_t end);
  void collect_candidates(std::size_t begin, std::size_t end, bool may_be_short);
  bool has_candidate() const;
  void add_term_candidates(std::size_t row);
  void order_candidates(const SentenceSearch& sentence, std::size_t width);
  void divide_beam(const TermAutomaton& terms, std::size_t width);
  void take_candidates(std::size_t begin, std::size_t end);
  void keep_alignment(SentenceSearch& sentence, std::int64_t row);
  void keep_model_scores(SentenceSearch& sentence, std::size_t row, std::int32_t word);
  float listed_score(std::size_t output, std::size_t row, std::int32_t word) const;
  float model_score(std::size_t model, std::size_t row, std::int32_t word) const;
  NBest n_best(const SentenceSearch& sentence, std::span<const SearchRecord::Token> tokens) const;
  float final_score(const SentenceSearch& sentence, const SearchRecord::Finished& finished) const;
  float coverage(const SentenceSearch& sentence, const SearchRecord::Finished& finished) const;
  void drop_if_decided(SentenceSearch& sentence, std::size_t first_open,
                       std::size_t first_finished);
  bool is_decided(const SentenceSearch& sentence, std::span<const Live> open) const;
  bool has_all_terms(const SentenceSearch& sentence, const SearchRecord::Finished& finished,
                     std::span<const SearchRecord::Token> tokens) const;
  Hypothesis trace_back(const SentenceSearch& sentence, const SearchRecord::Finished& finished,
                        std::span<const SearchRecord::Token> tokens) const;
  bool suppressed(std::int32_t word) const;

  SearchOptions options_;
  std::unique_ptr<Worker> worker_;
  std::size_t steps_ = 0;
  std::size_t best_scores_, best_words_, alignment_output_ = 0, listed_scores_ = 0;

  SearchSettings settings_;
  SearchRecord record_;                    ///< of a search that the worker runs by itself
  std::vector<SentenceSearch> sentences_;  ///< of a batch, or by place
  std::vector<std::int32_t> free_places_, ended_;
  PlaceSearch* place_search_ = nullptr;  ///< of the worker, in the store; null: on the host
  std::optional<PlaceLimits> store_;     ///< nullopt: the worker has a batch
  std::int64_t free_source_rows_ = 0, free_words_ = 0;  ///< of the store
  std::vector<Live> live_, next_live_;
  std::vector<Candidate> candidates_;
  std::vector<TermState> states_, next_states_;  ///< of live_ and next_live_
  std::vector<Rank> ranks_;
  std::unique_ptr<FinalScores> final_scores_;
  mutable std::vector<float> covered_;         ///< of each source token, while a score is computed
  std::vector<std::int64_t> alignment_begin_;  ///< offset in the output per row of the step
  std::vector<std::size_t> model_outputs_;     ///< of each model of an ensemble
  bool with_guides_ = false;                   ///< a sentence of the batch has a guide
  bool with_shortlists_ = false;               ///< the current batch has shortlists
  std::vector<WordIds> lists_;                 ///< words listed for each sentence, ascending
  std::vector<std::int64_t> list_begin_;       ///< offset in outputs for them per row of the step
  std::vector<std::int32_t> parents_, parent_sentence_, hypothesis_parent_, words_, positions_;
};

}  // namespace fuselage
