#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "decoding/lines/line_encoder.h"
#include "decoding/lines/source_encoder.h"
#include "decoding/lines/vocabulary_pair.h"
#include "fuselage/backends/compile_options.h"
#include "fuselage/backends/executable.h"
#include "fuselage/backends/graph_runner.h"
#include "fuselage/decoding/search_head.h"
#include "fuselage/decoding/translation.h"
#include "fuselage/models/model.h"

namespace fuselage {

/// Runs a model of any kind on the lines of probes. A language model continues them.
class ProbeModel {
 public:
  /// `model` must outlive this. Throws Error for a model without vocabularies, for vocabularies
  /// that do not fit, and for a language model that reads from right to left.
  ProbeModel(const Model& model, const VocabularyPairOptions& vocabularies, CompileOptions compile);

  const VocabularyPair& vocabularies() const { return vocabularies_; }

  /// The words that the model reads. Throws Error for a line without words, unless it is a prompt,
  /// and as SourceEncoder does.
  std::vector<EncodedLine> encode(std::span<const std::string> lines) const;

  /// The greedy translations, of up to twice as many words as the line has, by the programs of
  /// Translator and Generator.
  std::vector<Hypothesis> translate(const std::vector<EncodedLine>& lines) const;

  /// The scores of given translations, by the programs of Scorer.
  std::vector<std::vector<float>> score(const std::vector<EncodedLine>& lines,
                                        std::span<const WordIds> translations) const;

  /// The graph of score().
  Graph scoring_graph() const;

  /// Its inputs along the first `steps` words of the translations.
  std::vector<NamedRows> inputs(const std::vector<EncodedLine>& lines,
                                std::span<const WordIds> translations, std::size_t steps) const;

 private:
  std::unique_ptr<const Executable> compiled(SearchHead head, std::int64_t k) const;
  WordIds beginning() const;
  WordIds with_prompt(const EncodedLine& line, const WordIds& words) const;

  const Model& model_;
  CompileOptions compile_;
  VocabularyPair vocabularies_;
  std::unique_ptr<const SourceEncoder> source_;  ///< null: the model is a language model
  std::unique_ptr<const LineEncoder> prompt_;    ///< null: it is not
};

}  // namespace fuselage
