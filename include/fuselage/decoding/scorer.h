#pragma once

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/backends/compile_options.h"
#include "fuselage/base/api.h"
#include "fuselage/base/log.h"
#include "fuselage/decoding/batch_options.h"
#include "fuselage/decoding/model_handle.h"
#include "fuselage/decoding/n_best_list.h"
#include "fuselage/decoding/translation.h"
#include "fuselage/decoding/vocabulary_options.h"
#include "fuselage/models/model.h"

namespace FUSELAGE_API fuselage {

/// Settings of a scorer, named as marian-scorer's options. Members that are unset have the model's
/// own values (Model::decode); where the model states none, the values in the comments, which are
/// marian-scorer's on a CPU.
struct ScorerOptions {
  std::optional<float> normalize = {};     ///< a score is divided by length^normalize; 0
  std::optional<float> word_penalty = {};  ///< subtracted from the score per word; 0
  /// Maximum number of words of a line, including the end symbol; 1000.
  std::optional<std::size_t> max_length = {};
  /// As in TranslatorOptions.
  std::string source_language = {}, target_language = {};
  bool alignment = false;   ///< scores have their alignment
  bool strict = false;      ///< invalid and too long lines are errors
  std::size_t threads = 1;  ///< as in TranslatorOptions
  BatchOptions batches = {};
  VocabularyPairOptions vocabularies = {};
  std::string frequency = {};   ///< path of a frequency list (see add_word_ranks); empty: none
  CompileOptions compile = {};  ///< Scorer fills in ranks and workload
  Log log = {};                 ///< as in TranslatorOptions
};

/// Scores given translations, and with a language model (a graph without a source domain) given
/// texts. For the output of a Translator, a Scorer gives the same scores. Members for the other
/// kind of model throw Error. All members may be called from several threads at the same time; the
/// calls share the weights.
class Scorer : public ModelHandle<ScorerOptions> {
 public:
  /// Receives the score of a pair of lines or of a line, numbered from 0, in order and one at a
  /// time. An exception that it throws ends the call.
  using Sink = std::function<void(std::size_t line, PairScore&& score)>;

  /// The same for the entries of an n-best list.
  using NBestSink = std::function<void(NBestEntry&& entry, PairScore&& score)>;

  /// Throws Error as Translator does.
  explicit Scorer(Model model, ScorerOptions options = {});

  /// The same for the model at `path`; throws also the errors of load_model.
  explicit Scorer(const std::string& path, ScorerOptions options = {});

  /// The score of `target` as a translation of `source`.
  PairScore score(std::string_view source, std::string_view target) const;

  /// One score per pair of lines. Throws Error when the lists have different lengths.
  std::vector<PairScore> score(const std::vector<std::string>& sources,
                               const std::vector<std::string>& targets) const;
  void score(const std::vector<std::string>& sources, const std::vector<std::string>& targets,
             const Sink& sink) const;

  /// Gives one score per pair of lines. Throws Error when one stream has fewer lines than the
  /// other, after the scores of all pairs have been handed over.
  void score(std::istream& sources, std::istream& targets, const Sink& sink) const;

  /// The score of a line by a language model: PairScore::source_words and source_bytes are those of
  /// the line, and target_oddities are its oddities.
  PairScore score(std::string_view text) const;

  /// One score per line.
  std::vector<PairScore> score(const std::vector<std::string>& texts) const;
  void score(const std::vector<std::string>& texts, const Sink& sink) const;

  /// Gives one score per line.
  void score(std::istream& texts, const Sink& sink) const;

  /// The word or piece with an id of the target vocabulary (PairScore::words); empty for no word.
  std::string target_word(std::int32_t id) const;

  /// Gives the scores of the entries of an n-best list (NBestEntry), each as a translation of its
  /// line of the sources. PairScore::source_oddities are given with the first entry of a line.
  /// Throws Error, after the scores before it, for a line that is no entry, for entries that are
  /// not in the order of their lines, and for a line that the sources do not have.
  void score_n_best(std::istream& sources, std::istream& n_best, const NBestSink& sink) const;

  /// The same by a language model, which reads no sources.
  void score_n_best(std::istream& n_best, const NBestSink& sink) const;

  /// The scores of several translations of each line. Throws Error when there is not one list of
  /// hypotheses per source.
  std::vector<std::vector<PairScore>> score_n_best(
      const std::vector<std::string>& sources,
      const std::vector<std::vector<std::string>>& hypotheses) const;

 private:
  class Impl;
  const Impl& impl() const;
};

}  // namespace fuselage
