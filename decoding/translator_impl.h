#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "decoding/lines/batching.h"
#include "decoding/lines/guide_encoder.h"
#include "decoding/lines/shared_log.h"
#include "decoding/lines/source_encoder.h"
#include "decoding/lines/unknown_replacement.h"
#include "decoding/lines/vocabulary_pair.h"
#include "decoding/search/search_pool.h"
#include "fuselage/decoding/beam_search.h"
#include "fuselage/decoding/translator.h"
#include "text/shortlist/shortlist.h"

namespace fuselage {

/// What a Translator and a TranslationQueue share: lines as words, searches, and translations.
class Translator::Impl : public State {
 public:
  Impl(Model model, TranslatorOptions options);

  void run(const Lines& lines, const Sink& sink, const InputReady& ready) const;
  Translation translate(std::string_view line, const LineGuide& guide) const;

  EncodedLine encode(std::string_view line, std::size_t number, const LineGuide& guide) const;
  Translation empty_translation(const EncodedLine& line) const;
  Translation make_translation(const EncodedLine& line, NBest hypotheses) const;
  std::vector<Translation> translate_batch(BeamSearch& search,
                                           std::vector<EncodedLine>& batch) const;
  /// Whether the lines of a search can come and go.
  bool has_places(const BeamSearch& search) const {
    return search.has_places() && !options_.sampling && !options_.shortlist->union_of_batch;
  }
  /// Most words of a line in any of its texts, with those around it.
  std::size_t words_of(const EncodedLine& line) const;
  /// Begins the searches of lines, none of them empty, in their places.
  void admit(BeamSearch& search, std::span<const EncodedLine> lines,
             std::span<const std::int32_t> places) const;
  SearchPool& pool() const { return *pool_; }
  const Executable& executable() const { return *executable_; }
  /// Bounds of batches, and of the sentences that are translated at a time, by the options.
  BatchBounds first_bounds() const;

  std::string target_word(std::int32_t id) const {
    return std::string(vocabularies_.target->word(id));
  }

  std::size_t count_tokens(std::string_view line) const;
  TokenSpans token_spans(std::string_view line, const TranslatedText& translation,
                         const LineGuide& guide) const;
  const std::string& source_language() const { return source_language_; }
  const Graph& graph() const { return graph_; }

  const TranslatorOptions& options() const override { return options_; }
  const std::vector<std::string>& notes() const override { return vocabularies_.notes; }
  MemoryUse memory() const override { return executable_->memory(); }
  std::vector<TableUse> table_use() const override { return executable_->table_use(); }

 private:
  void load_shortlist(std::int64_t words);
  void load_guides();
  void note_host_search();
  std::vector<TokenSpan> target_spans(const TranslatedText& translation,
                                      std::span<const Placeholder> used) const;
  LineContext context_of(std::string_view line, const LineGuide& guide) const;
  EncodedLine encode_guided(std::string_view line, std::size_t number,
                            const LineGuide& guide) const;
  void run_without_notes(const Lines& lines, const Sink& sink, const InputReady& ready) const;
  bool tops_up() const;
  void run_in_caller(const Lines& lines, const Sink& sink) const;
  void run_batches(const Lines& lines, const Sink& sink, const InputReady& ready) const;
  BatchBounds fastest_batches() const;
  Workload workload() const;
  std::vector<WordIds> shortlists_for(std::span<const WordIds> sentences) const;
  std::vector<NBest> search_batch(BeamSearch& search, std::span<const EncodedLine> lines) const;
  std::vector<NBest> draw_samples(BeamSearch& search, std::span<const EncodedLine> lines) const;
  std::vector<SearchGuide> guides_of(std::span<const EncodedLine> lines) const;

  TranslatorOptions options_;
  bool right_left_;
  std::string source_language_;
  VocabularyPair vocabularies_;
  SearchOptions search_;
  std::unique_ptr<const Placeholders> placeholders_;  ///< null: none
  std::unique_ptr<const SourceEncoder> encoder_;
  std::unique_ptr<const UnknownReplacement> replacement_;  ///< null: unknown words stay
  std::unique_ptr<const GuideEncoder> guide_encoder_;      ///< null: no guides
  std::unique_ptr<const Shortlist> shortlist_;             ///< null: no shortlist
  Graph graph_;                                            ///< that was compiled
  std::unique_ptr<const Executable> executable_;
  std::unique_ptr<SearchPool> pool_;
  std::shared_ptr<BatchTuner> tuner_;
  SharedLog log_;
};

}  // namespace fuselage
