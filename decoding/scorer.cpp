#include "decoding/scorer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "decoding/batch_pipeline.h"
#include "decoding/line_reader.h"
#include "decoding/word_ranks.h"
#include "fuselage/base/error.h"
#include "fuselage/decoding/search_head.h"

namespace fuselage {
namespace {

bool read_side(std::istream& input, std::string& line, std::string_view side) {
  if (read_line(input, line)) return true;
  if (input.bad())
    throw Error(fmt::format("cannot read the {} text: the system reports an error", side));
  return false;
}

/// Reads a line of each stream; false at the end of both.
bool read_pair(std::istream& sources, std::istream& targets, std::string& source,
               std::string& target, std::size_t number) {
  const bool has_source = read_side(sources, source, "source");
  const bool has_target = read_side(targets, target, "target");
  if (has_source != has_target)
    throw Error(
        fmt::format("the {} text ends after {} line{}, but the {} text goes on; both need the same "
                    "number of lines",
                    has_source ? "target" : "source", number, number == 1 ? "" : "s",
                    has_source ? "source" : "target"));
  return has_source;
}

}  // namespace

Scorer::Scorer(Model model, ScorerOptions options)
    : options_(std::move(options)), right_left_(model.right_left) {
  options_.vocabularies.encode_target = true;
  vocabularies_ = load_vocabulary_pair(model, options_.vocabularies);
  source_encoder_ = std::make_unique<LineEncoder>(
      *vocabularies_.source,
      LineEncoder::Options{options_.max_length, right_left_, options_.strict, "source"});
  target_encoder_ = std::make_unique<LineEncoder>(
      *vocabularies_.target,
      LineEncoder::Options{options_.max_length, right_left_, options_.strict, "target"});
  if (options_.alignment) expect_alignment(model.graph);
  if (!options_.frequency.empty())
    options_.compile.ranks =
        add_word_ranks(model, vocabularies_, options_.frequency, vocabularies_.notes);
  fastest_ = find_backend(options_.compile.backend).fastest_batches(1);
  options_.compile.workload =
      expected_workload(1, batch_bounds(options_.batches, fastest_, /*by_content=*/false));
  executable_ =
      compile(with_search_head(model.graph, SearchHead::log_probabilities, 1, options_.alignment),
              std::move(model.weights), options_.compile);
  for (const std::string& note : executable_->notes()) vocabularies_.notes.push_back(note);
}

void Scorer::score(std::istream& sources, std::istream& targets, const Sink& sink) const {
  const std::size_t threads = std::max<std::size_t>(1, options_.threads);
  std::vector<std::unique_ptr<ForcedDecoder>> decoders;
  std::vector<OrderedWorkers<Pair, PairScore>::Work> work;
  for (std::size_t i = 0; i < threads; ++i) {
    decoders.push_back(std::make_unique<ForcedDecoder>(*executable_, options_.alignment));
    work.emplace_back([this, &decoder = *decoders.back()](std::vector<Pair>& batch) {
      return score_batch(decoder, batch);
    });
  }
  std::string source, target;
  std::size_t number = 0;
  const auto next = [&](Pair& pair) {
    if (!read_pair(sources, targets, source, target, number)) return false;
    pair = {source_encoder_->encode(source, number), target_encoder_->encode(target, number)};
    ++number;
    return true;
  };
  const auto length = [](const Pair& pair) {
    return pair.source.words.size() + pair.target.words.size();
  };
  const BatchFormer former(options_.batches, fastest_, threads);
  run_batches<Pair, PairScore>({next, length}, former, std::move(work), sink);
}

std::vector<PairScore> Scorer::score_batch(ForcedDecoder& decoder, std::vector<Pair>& batch) const {
  const auto both_empty = [](const Pair& pair) {
    return pair.source.empty() && pair.target.empty();
  };
  std::vector<WordIds> sources, targets;
  for (const Pair& pair : batch) {
    if (both_empty(pair)) continue;
    sources.push_back(pair.source.words);
    targets.push_back(pair.target.words);
  }
  std::vector<ForcedScores> scores;
  if (!sources.empty()) scores = decoder.score(sources, targets);
  std::vector<PairScore> results;
  std::size_t at = 0;
  for (const Pair& pair : batch) {
    // As in Translator, the model is not run on an empty line.
    ForcedScores certain{.word_scores = {0}};
    if (options_.alignment) certain.alignment = {{1}};
    results.push_back(
        make_score(pair, both_empty(pair) ? std::move(certain) : std::move(scores[at++])));
  }
  return results;
}

PairScore Scorer::make_score(const Pair& pair, ForcedScores scores) const {
  PairScore result{.word_scores = std::move(scores.word_scores),
                   .alignment = std::move(scores.alignment),
                   .source_oddities = pair.source.oddities,
                   .target_oddities = pair.target.oddities,
                   .source_words = pair.source.words.size(),
                   .source_bytes = pair.source.bytes};
  for (const float score : result.word_scores) result.log_probability += score;
  const auto length = static_cast<float>(result.word_scores.size());
  result.score = (result.log_probability - options_.word_penalty * length) /
                 std::pow(length, options_.normalize);
  return result;
}

}  // namespace fuselage
