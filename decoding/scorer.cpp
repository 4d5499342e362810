#include "fuselage/decoding/scorer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <istream>
#include <iterator>
#include <utility>

#include "decoding/lines/batch_pipeline.h"
#include "decoding/lines/batching.h"
#include "decoding/lines/line_encoder.h"
#include "decoding/lines/line_reader.h"
#include "decoding/lines/shared_log.h"
#include "decoding/lines/source_encoder.h"
#include "decoding/lines/vocabulary_pair.h"
#include "decoding/lines/word_ranks.h"
#include "decoding/resolve_options.h"
#include "decoding/search/forced_decoder.h"
#include "fuselage/backends/compile.h"
#include "fuselage/base/error.h"
#include "fuselage/decoding/search_head.h"
#include "fuselage/models/load_model.h"
#include "text/lines.h"

namespace fuselage {
namespace {

/// Reads line `number`, from 0, of a text; false at its end.
bool read_side(std::istream& input, std::string& line, std::string_view side, std::size_t number) {
  if (read_line(input, line)) {
    if (number == 0) drop_byte_order_mark(line);
    return true;
  }
  if (input.bad())
    throw Error(fmt::format("cannot read the {} text: the system reports an error", side));
  return false;
}

/// A source and a target line as texts.
struct TextPair {
  std::string source;  ///< empty for a language model
  std::string target;
  std::size_t source_line = 0;  ///< from 0
  bool is_new_source = true;    ///< false: the source is that of the pair before
  NBestEntry entry;             ///< of an n-best list, else empty
};

/// Reads a line of each stream; false at the end of both.
bool read_pair(std::istream& sources, std::istream& targets, TextPair& pair) {
  const std::size_t number = pair.source_line;
  const bool has_source = read_side(sources, pair.source, "source", number);
  const bool has_target = read_side(targets, pair.target, "target", number);
  if (has_source != has_target)
    throw Error(
        fmt::format("the {} text ends after {} line{}, but the {} text goes on; both need the same "
                    "number of lines",
                    has_source ? "target" : "source", number, number == 1 ? "" : "s",
                    has_source ? "source" : "target"));
  return has_source;
}

/// Reads the entries of an n-best list with the lines of the sources, if there are any.
class NBestReader {
 public:
  NBestReader(std::istream* sources, std::istream& n_best) : sources_(sources), n_best_(n_best) {}

  /// Reads the next entry; false at the end.
  bool read(TextPair& pair) {
    std::string line;
    if (!read_side(n_best_, line, "n-best", entries_)) return false;
    pair.entry = parse_n_best(std::move(line), entries_);
    pair.target = pair.entry.text;
    pair.source_line = pair.entry.source_line;
    pair.is_new_source = pair.source_line >= sources_read_;
    if (sources_) read_source(pair);
    ++entries_;
    return true;
  }

 private:
  void read_source(TextPair& pair) {
    if (pair.source_line + 1 < sources_read_)
      throw Error(fmt::format(
          "entry {} of the n-best list is of source line {}, the one before of line {}; "
          "sort the list by the number of the source line",
          entries_ + 1, pair.source_line, sources_read_ - 1));
    for (; sources_read_ <= pair.source_line; ++sources_read_)
      if (!read_side(*sources_, pair.source, "source", sources_read_))
        throw Error(fmt::format(
            "entry {} of the n-best list is of source line {}, counted from 0, but the source text "
            "has {} line{}",
            entries_ + 1, pair.source_line, sources_read_, sources_read_ == 1 ? "" : "s"));
  }

  std::istream* sources_;  ///< null: a language model
  std::istream& n_best_;
  std::size_t sources_read_ = 0, entries_ = 0;
};

template <typename Sink>
void expect_sink(const Sink& sink) {
  if (!sink) throw Error("the sink that receives scores is empty");
}

Scorer::Sink into(std::vector<PairScore>& scores) {
  return [&scores](std::size_t line, PairScore&& score) { scores[line] = std::move(score); };
}

/// The notes on the lines of both texts, or of the only one.
class PairNotes {
 public:
  PairNotes(std::size_t max_length, bool pairs)
      : source_(max_length, "the source"), target_(max_length, pairs ? "the target" : "") {}

  void add(std::size_t source_line, std::size_t target_line, const PairScore& score) {
    source_.add(source_line, score.source_oddities);
    target_.add(target_line, score.target_oddities);
  }

  std::vector<std::string> notes() const {
    std::vector<std::string> notes = source_.notes();
    for (std::string& note : target_.notes()) notes.push_back(std::move(note));
    return notes;
  }

 private:
  LineNotes source_, target_;
};

}  // namespace

class Scorer::Impl : public State {
 public:
  Impl(Model model, ScorerOptions options);

  PairScore score(std::string_view source, std::string_view target) const;
  PairScore score(std::string_view text) const;
  void score(const std::vector<std::string>& sources, const std::vector<std::string>& targets,
             const Sink& sink) const;
  void score(const std::vector<std::string>& texts, const Sink& sink) const;
  void score(std::istream& sources, std::istream& targets, const Sink& sink) const;
  void score(std::istream& texts, const Sink& sink) const;
  void score_n_best(std::istream* sources, std::istream& n_best, const NBestSink& sink) const;

  std::string target_word(std::int32_t id) const {
    return std::string(vocabularies_.target->word(id));
  }

  const ScorerOptions& options() const override { return options_; }
  const std::vector<std::string>& notes() const override { return vocabularies_.notes; }
  MemoryUse memory() const override { return executable_->memory(); }
  std::vector<TableUse> table_use() const override { return executable_->table_use(); }

 private:
  struct Pair {
    EncodedLine source;  ///< without words for a language model
    EncodedLine target;
    std::size_t source_line = 0;
    NBestEntry entry = {};
  };
  struct Scored {
    PairScore score;
    std::size_t source_line = 0;
    NBestEntry entry = {};
  };
  /// Reads the next pair of lines, whose source line has the pair's number unless the function sets
  /// another one; false at the end.
  using PairSource = std::function<bool(TextPair& pair)>;
  using ScoredSink = std::function<void(std::size_t number, Scored&& scored)>;

  void run(const PairSource& next_pair, const ScoredSink& sink) const;
  void run(const PairSource& next_pair, const Sink& sink) const;
  void expect_texts(bool pairs) const;
  Pair encode(const TextPair& texts, std::size_t number) const;
  PairScore score(const Pair& pair) const;
  bool is_certain(const Pair& pair) const;
  std::vector<Scored> score_batch(ForcedDecoder& decoder, std::vector<Pair>& batch) const;
  WordIds beginning() const;
  PairScore make_score(const Pair& pair, ForcedScores scores) const;
  LineEncoder::Options reading(std::string text) const;

  ScorerOptions options_;
  bool right_left_;
  VocabularyPair vocabularies_;
  std::unique_ptr<const SourceEncoder> source_encoder_;  ///< null: the model is a language model
  std::unique_ptr<const LineEncoder> target_encoder_;
  BatchBounds fastest_{};
  std::unique_ptr<const Executable> executable_;
  std::shared_ptr<BatchTuner> tuner_;
  SharedLog log_;
};

Scorer::Impl::Impl(Model model, ScorerOptions options)
    : options_(resolved(std::move(options), model)),
      right_left_(model.right_left),
      log_(options_.log) {
  options_.vocabularies.encode_target = true;
  vocabularies_ = load_vocabularies(model, options_.vocabularies);
  expect_one_text(vocabularies_, "scoring");
  if (vocabularies_.source)
    source_encoder_ = std::make_unique<SourceEncoder>(
        model.graph, vocabularies_, reading("source"),
        text_frame(model.text, *vocabularies_.source, *vocabularies_.target,
                   options_.source_language, options_.target_language));
  target_encoder_ = std::make_unique<LineEncoder>(*vocabularies_.target,
                                                  reading(source_encoder_ ? "target" : ""));
  if (options_.alignment) expect_alignment(model.graph);
  if (!options_.frequency.empty())
    options_.compile.ranks =
        add_word_ranks(model, vocabularies_, options_.frequency, vocabularies_.notes);
  fastest_ = find_backend(options_.compile.backend).fastest_batches(1);
  const BatchBounds bounds = batch_bounds(options_.batches, fastest_, /*by_content=*/false);
  options_.compile.workload = expected_workload(1, bounds);
  executable_ = compile(with_search_head(model.graph, SearchHead::log_probabilities,
                                         {.alignment = options_.alignment}),
                        std::move(model.weights), options_.compile);
  take_over(*executable_, options_.compile, options_.threads, vocabularies_.notes);
  tuner_ = std::make_shared<BatchTuner>(bounds, workers_of(options_.threads, *executable_));
  log_.write(notes());
}

LineEncoder::Options Scorer::Impl::reading(std::string text) const {
  return {*options_.max_length, right_left_, options_.strict, std::move(text)};
}

void Scorer::Impl::expect_texts(bool pairs) const {
  if (pairs && !source_encoder_)
    throw Error("the model is a language model, which reads no source; give one text to score");
  if (!pairs && source_encoder_)
    throw Error(
        "the model translates, so its scores are those of pairs; give a source and a target");
}

/// `number` is that of the target line.
Scorer::Impl::Pair Scorer::Impl::encode(const TextPair& texts, std::size_t number) const {
  Pair pair{.source_line = texts.source_line};
  if (source_encoder_) pair.source = source_encoder_->encode(texts.source, texts.source_line);
  if (!texts.is_new_source) pair.source.oddities.clear();
  pair.target = target_encoder_->encode(texts.target, number);
  return pair;
}

PairScore Scorer::Impl::score(std::string_view source, std::string_view target) const {
  expect_texts(/*pairs=*/true);
  return score(encode({.source = std::string(source), .target = std::string(target)}, 0));
}

PairScore Scorer::Impl::score(std::string_view text) const {
  expect_texts(/*pairs=*/false);
  return score(encode({.target = std::string(text)}, 0));
}

PairScore Scorer::Impl::score(const Pair& pair) const {
  std::vector<Pair> batch{pair};
  ForcedDecoder decoder(*executable_, options_.alignment);
  PairScore result = std::move(score_batch(decoder, batch)[0].score);
  PairNotes notes(*options_.max_length, source_encoder_ != nullptr);
  notes.add(0, 0, result);
  log_.write(notes.notes());
  return result;
}

void Scorer::Impl::score(const std::vector<std::string>& sources,
                         const std::vector<std::string>& targets, const Sink& sink) const {
  expect_texts(/*pairs=*/true);
  if (sources.size() != targets.size())
    throw Error(fmt::format("there are {} source lines and {} target lines; give one for each",
                            sources.size(), targets.size()));
  const auto next = [source = lines_of(sources), target = lines_of(targets)](TextPair& pair) {
    return source(pair.source) && target(pair.target);
  };
  run(next, sink);
}

void Scorer::Impl::score(const std::vector<std::string>& texts, const Sink& sink) const {
  expect_texts(/*pairs=*/false);
  const auto next = [text = lines_of(texts)](TextPair& pair) { return text(pair.target); };
  run(next, sink);
}

void Scorer::Impl::score(std::istream& sources, std::istream& targets, const Sink& sink) const {
  expect_texts(/*pairs=*/true);
  run([&](TextPair& pair) { return read_pair(sources, targets, pair); }, sink);
}

void Scorer::Impl::score(std::istream& texts, const Sink& sink) const {
  expect_texts(/*pairs=*/false);
  const auto next = [text = lines_of(texts)](TextPair& pair) { return text(pair.target); };
  run(next, sink);
}

void Scorer::Impl::score_n_best(std::istream* sources, std::istream& n_best,
                                const NBestSink& sink) const {
  expect_texts(/*pairs=*/sources != nullptr);
  NBestReader reader(sources, n_best);
  const ScoredSink give = [&](std::size_t, Scored&& scored) {
    sink(std::move(scored.entry), std::move(scored.score));
  };
  run([&](TextPair& pair) { return reader.read(pair); }, give);
}

void Scorer::Impl::run(const PairSource& next_pair, const Sink& sink) const {
  const ScoredSink give = [&](std::size_t number, Scored&& scored) {
    sink(number, std::move(scored.score));
  };
  run(next_pair, give);
}

void Scorer::Impl::run(const PairSource& next_pair, const ScoredSink& sink) const {
  const std::size_t threads = workers_of(options_.threads, *executable_);
  std::vector<std::unique_ptr<ForcedDecoder>> decoders;
  std::vector<OrderedWorkers<Pair, Scored>::Work> work;
  for (std::size_t i = 0; i < threads; ++i) {
    decoders.push_back(std::make_unique<ForcedDecoder>(*executable_, options_.alignment,
                                                       i % executable_->devices()));
    work.emplace_back([this, &decoder = *decoders.back()](std::vector<Pair>& batch) {
      return score_batch(decoder, batch);
    });
  }
  TextPair texts;
  std::size_t number = 0;
  const auto next = [&](Pair& pair) {
    texts.source_line = number;
    if (!next_pair(texts)) return false;
    pair = encode(texts, number++);
    pair.entry = std::move(texts.entry);
    return true;
  };
  const auto length = [](const Pair& pair) {
    return pair.source.words.size() + pair.target.words.size();
  };
  const BatchFormer former(options_.batches, fastest_, threads, /*by_content=*/false, tuner_);
  PairNotes notes(*options_.max_length, source_encoder_ != nullptr);
  const ScoredSink noting_sink = [&](std::size_t line, Scored&& scored) {
    notes.add(scored.source_line, line, scored.score);
    sink(line, std::move(scored));
  };
  run_batches<Pair, Scored>({next, length}, former, std::move(work),
                            log_.is_read() ? noting_sink : sink);
  log_.write(notes.notes());
  log_.write(tuner_->take_notes());
}

/// As in Translator, a model is not run on an empty line. A language model says how likely it is.
bool Scorer::Impl::is_certain(const Pair& pair) const {
  return source_encoder_ && pair.source.empty() && pair.target.empty();
}

std::vector<Scorer::Impl::Scored> Scorer::Impl::score_batch(ForcedDecoder& decoder,
                                                            std::vector<Pair>& batch) const {
  std::vector<WordIds> sources, targets;
  for (const Pair& pair : batch) {
    if (is_certain(pair)) continue;
    sources.push_back(source_encoder_ ? source_encoder_->frame().framed(pair.source.words)
                                      : pair.source.words);
    WordIds& target = targets.emplace_back(beginning());
    target.insert(target.end(), pair.target.words.begin(), pair.target.words.end());
  }
  std::vector<ForcedScores> scores;
  if (!sources.empty()) scores = decoder.score(sources, targets);
  std::vector<Scored> results;
  std::size_t at = 0;
  for (Pair& pair : batch) {
    ForcedScores certain{.word_scores = {0}};
    if (options_.alignment) certain.alignment = {{1}};
    PairScore score =
        make_score(pair, is_certain(pair) ? std::move(certain) : std::move(scores[at++]));
    results.push_back({std::move(score), pair.source_line, std::move(pair.entry)});
  }
  return results;
}

/// The words that all translations begin with, which have no score.
WordIds Scorer::Impl::beginning() const {
  return source_encoder_ ? source_encoder_->frame().beginning : WordIds{};
}

PairScore Scorer::Impl::make_score(const Pair& pair, ForcedScores scores) const {
  const auto first = std::ssize(scores.word_scores) - std::ssize(pair.target.words);
  scores.word_scores.erase(scores.word_scores.begin(), scores.word_scores.begin() + first);
  if (!scores.alignment.empty())
    scores.alignment.erase(scores.alignment.begin(), scores.alignment.begin() + first);
  if (source_encoder_ && !is_certain(pair))
    for (std::vector<float>& weights : scores.alignment) source_encoder_->frame().unframe(weights);
  const EncodedLine& read = source_encoder_ ? pair.source : pair.target;
  PairScore result{.word_scores = std::move(scores.word_scores),
                   .alignment = std::move(scores.alignment),
                   .source_oddities = pair.source.oddities,
                   .target_oddities = pair.target.oddities,
                   .source_words = read.words.size(),
                   .source_bytes = read.bytes,
                   .words = pair.target.words};
  for (const float score : result.word_scores) result.log_probability += score;
  // The length counts as it does in the search.
  const auto length = static_cast<float>(result.word_scores.size() + beginning().size());
  result.score = (result.log_probability - *options_.word_penalty * length) /
                 std::pow(length, *options_.normalize);
  return result;
}

const Scorer::Impl& Scorer::impl() const { return static_cast<const Impl&>(state()); }

Scorer::Scorer(Model model, ScorerOptions options)
    : ModelHandle(std::make_unique<const Impl>(std::move(model), std::move(options))) {}

Scorer::Scorer(const std::string& path, ScorerOptions options)
    : Scorer(load_model(path), std::move(options)) {}

PairScore Scorer::score(std::string_view source, std::string_view target) const {
  return impl().score(source, target);
}

PairScore Scorer::score(std::string_view text) const { return impl().score(text); }

std::vector<PairScore> Scorer::score(const std::vector<std::string>& sources,
                                     const std::vector<std::string>& targets) const {
  std::vector<PairScore> scores(sources.size());
  impl().score(sources, targets, into(scores));
  return scores;
}

std::vector<PairScore> Scorer::score(const std::vector<std::string>& texts) const {
  std::vector<PairScore> scores(texts.size());
  impl().score(texts, into(scores));
  return scores;
}

void Scorer::score(const std::vector<std::string>& sources, const std::vector<std::string>& targets,
                   const Sink& sink) const {
  expect_sink(sink);
  impl().score(sources, targets, sink);
}

void Scorer::score(const std::vector<std::string>& texts, const Sink& sink) const {
  expect_sink(sink);
  impl().score(texts, sink);
}

void Scorer::score(std::istream& sources, std::istream& targets, const Sink& sink) const {
  expect_sink(sink);
  impl().score(sources, targets, sink);
}

void Scorer::score(std::istream& texts, const Sink& sink) const {
  expect_sink(sink);
  impl().score(texts, sink);
}

std::string Scorer::target_word(std::int32_t id) const { return impl().target_word(id); }

void Scorer::score_n_best(std::istream& sources, std::istream& n_best,
                          const NBestSink& sink) const {
  expect_sink(sink);
  impl().score_n_best(&sources, n_best, sink);
}

void Scorer::score_n_best(std::istream& n_best, const NBestSink& sink) const {
  expect_sink(sink);
  impl().score_n_best(nullptr, n_best, sink);
}

std::vector<std::vector<PairScore>> Scorer::score_n_best(
    const std::vector<std::string>& sources,
    const std::vector<std::vector<std::string>>& hypotheses) const {
  if (sources.size() != hypotheses.size())
    throw Error(
        fmt::format("there are {} source lines and {} lists of hypotheses; give one list for each",
                    sources.size(), hypotheses.size()));
  std::vector<std::string> repeated, targets;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    repeated.insert(repeated.end(), hypotheses[i].size(), sources[i]);
    targets.insert(targets.end(), hypotheses[i].begin(), hypotheses[i].end());
  }
  std::vector<PairScore> scores = score(repeated, targets);
  std::vector<std::vector<PairScore>> results;
  auto next = std::make_move_iterator(scores.begin());
  for (const std::vector<std::string>& list : hypotheses) {
    const auto end = next + std::ssize(list);
    results.emplace_back(next, end);
    next = end;
  }
  return results;
}

}  // namespace fuselage
