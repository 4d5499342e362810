#include "decoding/probe_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "decoding/lines/batching.h"
#include "decoding/search/forced_decoder.h"
#include "fuselage/backends/compile.h"
#include "fuselage/base/error.h"
#include "fuselage/decoding/beam_search.h"

namespace fuselage {
namespace {

/// The search of probes does not follow the model's settings, which may change after its
/// conversion.
constexpr float kLengthFactor = 2;
constexpr std::int32_t kWordsOfContinuation = 20;
/// Maximum number of words of a line; the rest is cut off.
constexpr std::size_t kMaxLineWords = 100;

NamedRows rows_of(std::string name, std::span<const WordIds> sentences) {
  NamedRows rows{.name = std::move(name)};
  WordIds all;
  for (const WordIds& words : sentences) {
    rows.lengths.push_back(static_cast<std::int32_t>(words.size()));
    all.insert(all.end(), words.begin(), words.end());
  }
  rows.values = Tensor(DType::i32, {static_cast<std::int64_t>(all.size())});
  std::ranges::copy(all, rows.values.mutable_data<std::int32_t>());
  return rows;
}

}  // namespace

ProbeModel::ProbeModel(const Model& model, const VocabularyPairOptions& vocabularies,
                       CompileOptions compile)
    : model_(model),
      compile_(std::move(compile)),
      vocabularies_(load_vocabularies(model, vocabularies)) {
  const LineEncoder::Options reading{kMaxLineWords, model.right_left, false, ""};
  if (vocabularies_.source)
    source_ = std::make_unique<SourceEncoder>(
        model.graph, vocabularies_, reading,
        text_frame(model.text, *vocabularies_.source, *vocabularies_.target, "", ""));
  else if (model.right_left)
    throw Error("the model reads texts from right to left, so it cannot continue probe sentences");
  else
    prompt_ = std::make_unique<LineEncoder>(*vocabularies_.target, reading);
  compile_.workload = expected_workload(
      1, batch_bounds({}, find_backend(compile_.backend).fastest_batches(1), false));
}

std::vector<EncodedLine> ProbeModel::encode(std::span<const std::string> lines) const {
  std::vector<EncodedLine> encoded;
  for (const std::string& line : lines) {
    encoded.push_back(prompt_ ? prompt_->encode(line, encoded.size())
                              : source_->encode(line, encoded.size()));
    if (source_ && encoded.back().empty())
      throw Error(fmt::format("probe sentence {} has no words", encoded.size()));
  }
  return encoded;
}

std::unique_ptr<const Executable> ProbeModel::compiled(SearchHead head, std::int64_t k) const {
  return compile(with_search_head(model_.graph, head, {.k = k, .alignment = false}), model_.weights,
                 compile_);
}

std::vector<Hypothesis> ProbeModel::translate(const std::vector<EncodedLine>& lines) const {
  const SearchOptions options{.beam_size = 1,
                              .max_length_factor = kLengthFactor,
                              .max_words = prompt_ ? kWordsOfContinuation : 0,
                              .beginning = beginning(),
                              .end_id = vocabularies_.target->end_id(),
                              .suppressed = words_to_suppress(*vocabularies_.target, false, false)};
  const auto executable = compiled(SearchHead::k_best, BeamSearch::candidates_per_row(options));
  BeamSearch search(*executable, options);
  std::vector<NBest> found;
  if (source_) {
    const SourceBatch batch(*source_, lines);
    found = search.search(batch.batch(), {});
  } else {
    std::vector<SearchGuide> prompts;
    for (const EncodedLine& line : lines) prompts.push_back({.prefix = with_prompt(line, {})});
    found = search.search(std::vector<WordIds>(lines.size()), {}, prompts);
  }
  std::vector<Hypothesis> results;
  for (std::size_t i = 0; i < found.size(); ++i) {
    Hypothesis hypothesis = std::move(found[i].at(0));
    const auto prompt = source_ ? 0 : std::ssize(with_prompt(lines[i], {}));
    hypothesis.words.erase(hypothesis.words.begin(), hypothesis.words.begin() + prompt);
    hypothesis.word_scores.erase(hypothesis.word_scores.begin(),
                                 hypothesis.word_scores.begin() + prompt);
    results.push_back(std::move(hypothesis));
  }
  return results;
}

std::vector<std::vector<float>> ProbeModel::score(const std::vector<EncodedLine>& lines,
                                                  std::span<const WordIds> translations) const {
  const auto executable = compiled(SearchHead::log_probabilities, 1);
  ForcedDecoder decoder(*executable, /*alignment=*/false);
  std::vector<WordIds> targets;
  for (std::size_t i = 0; i < lines.size(); ++i)
    targets.push_back(with_prompt(lines[i], translations[i]));
  std::vector<ForcedScores> forced;
  if (source_) {
    const SourceBatch batch(*source_, lines);
    forced = decoder.score(batch.batch(), targets);
  } else {
    forced = decoder.score(std::vector<WordIds>(lines.size()), targets);
  }
  std::vector<std::vector<float>> scores;
  for (std::size_t i = 0; i < forced.size(); ++i)
    scores.emplace_back(
        forced[i].word_scores.end() - static_cast<std::ptrdiff_t>(translations[i].size()),
        forced[i].word_scores.end());
  return scores;
}

WordIds ProbeModel::beginning() const { return source_ ? source_->frame().beginning : WordIds{}; }

/// The words of the steps: those that all translations begin with, or, for a language model, the
/// prompt before the continuation.
WordIds ProbeModel::with_prompt(const EncodedLine& line, const WordIds& words) const {
  WordIds all = beginning();
  if (!source_) all.assign(line.words.begin(), line.words.end() - 1);
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

Graph ProbeModel::scoring_graph() const {
  return with_search_head(model_.graph, SearchHead::log_probabilities, {.alignment = false});
}

std::vector<NamedRows> ProbeModel::inputs(const std::vector<EncodedLine>& lines,
                                          std::span<const WordIds> translations,
                                          std::size_t steps) const {
  std::vector<NamedRows> rows;
  const Graph graph = scoring_graph();
  for (const GraphInput& input : graph_inputs(graph)) {
    std::vector<WordIds> sentences;
    std::size_t field = 0;
    if (source_)
      for (std::size_t f = 1; f < source_->fields().size(); ++f)
        if (source_->fields()[f].name == input.name) field = f;
    for (std::size_t i = 0; i < lines.size(); ++i) {
      if (graph.domain(input.type.domain).kind == DomainKind::source) {
        sentences.push_back(field > 0 ? lines[i].further[field - 1]
                            : source_ ? source_->frame().framed(lines[i].words)
                                      : lines[i].words);
        continue;
      }
      WordIds read = with_prompt(lines[i], translations[i]);
      read.insert(read.begin(), -1);
      read.pop_back();
      read.resize(std::min(read.size(), steps));
      sentences.push_back(std::move(read));
    }
    rows.push_back(rows_of(input.name, sentences));
  }
  return rows;
}

}  // namespace fuselage
