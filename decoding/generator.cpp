#include "fuselage/decoding/generator.h"

#include <fmt/format.h>

#include <algorithm>
#include <istream>
#include <span>
#include <utility>

#include "decoding/lines/batching.h"
#include "decoding/lines/line_encoder.h"
#include "decoding/lines/line_pipeline.h"
#include "decoding/lines/line_reader.h"
#include "decoding/lines/shared_log.h"
#include "decoding/lines/vocabulary_pair.h"
#include "decoding/lines/word_ranks.h"
#include "decoding/resolve_options.h"
#include "decoding/sampling_streams.h"
#include "decoding/search/search_pool.h"
#include "fuselage/backends/compile.h"
#include "fuselage/base/error.h"
#include "fuselage/decoding/beam_search.h"
#include "fuselage/decoding/search_head.h"
#include "fuselage/models/load_model.h"

namespace fuselage {
namespace {

/// Settings of the search; all members of `options` have values.
SearchOptions search_options(const GeneratorOptions& options, const Vocabulary& vocabulary) {
  // Samples are searches of their own.
  return {.beam_size = options.sampling ? 1 : options.beam_size.value(),
          .normalize = options.normalize.value(),
          .word_penalty = options.word_penalty.value(),
          .max_words = options.max_new_tokens,
          .min_length = options.min_length.value(),
          .end_id = vocabulary.end_id(),
          .suppressed =
              words_to_suppress(vocabulary, options.allow_unk.value(), options.allow_special)};
}

/// The words of a prompt, without the end symbol.
WordIds prompt_of(const EncodedLine& line) { return {line.words.begin(), line.words.end() - 1}; }

/// The hypothesis without the first `words` words, whose scores are 0.
Hypothesis without_prompt(Hypothesis hypothesis, std::size_t words) {
  const auto count = static_cast<std::ptrdiff_t>(words);
  hypothesis.words.erase(hypothesis.words.begin(), hypothesis.words.begin() + count);
  hypothesis.word_scores.erase(hypothesis.word_scores.begin(),
                               hypothesis.word_scores.begin() + count);
  return hypothesis;
}

}  // namespace

class Generator::Impl : public State {
 public:
  Impl(Model model, GeneratorOptions options);

  void run(const LineSource& next_line, const Sink& sink, const InputReady& ready) const;
  Generation generate(std::string_view prompt) const;

  const GeneratorOptions& options() const override { return options_; }
  const std::vector<std::string>& notes() const override { return vocabularies_.notes; }
  MemoryUse memory() const override { return executable_->memory(); }
  std::vector<TableUse> table_use() const override { return executable_->table_use(); }

 private:
  BatchBounds fastest_batches() const;
  BatchBounds first_bounds() const;
  Workload workload() const;
  EncodedLine encode(std::string_view prompt, std::size_t number) const;
  std::vector<NBest> search_batch(BeamSearch& search, std::span<const EncodedLine> lines) const;
  std::vector<NBest> draw_samples(BeamSearch& search, std::span<const EncodedLine> lines) const;
  std::vector<Generation> generate_batch(BeamSearch& search, std::vector<EncodedLine>& batch) const;
  Generation make_generation(const EncodedLine& line, const WordIds& prompt, NBest found) const;

  GeneratorOptions options_;
  VocabularyPair vocabularies_;
  SearchOptions search_;
  std::unique_ptr<const LineEncoder> encoder_;
  std::unique_ptr<const Executable> executable_;
  std::unique_ptr<SearchPool> pool_;
  std::shared_ptr<BatchTuner> tuner_;
  SharedLog log_;
};

Generator::Impl::Impl(Model model, GeneratorOptions options)
    : options_(resolved(std::move(options), model)), log_(options_.log) {
  vocabularies_ = load_text_vocabulary(model, options_.vocabularies);
  if (model.right_left)
    throw Error(
        "the model reads texts from right to left, so it cannot continue a prompt; use a model "
        "that reads from left to right");
  search_ = search_options(options_, *vocabularies_.target);
  verify(search_);
  if (options_.sampling && *options_.min_length > 0)
    throw Error(
        "min-length cannot go with output-sampling: the end symbol is drawn as any word; leave one "
        "of the two out");
  encoder_ = std::make_unique<LineEncoder>(*vocabularies_.target,
                                           LineEncoder::Options{.max_length = *options_.max_length,
                                                                .right_left = false,
                                                                .strict = options_.strict,
                                                                .text = ""});
  if (!options_.frequency.empty())
    options_.compile.ranks =
        add_word_ranks(model, vocabularies_, options_.frequency, vocabularies_.notes);
  options_.compile.workload = workload();
  executable_ = compile(with_search_head(model.graph, SearchHead::k_best,
                                         {.k = BeamSearch::candidates_per_row(search_),
                                          .alignment = false,
                                          .repetition = repetition_of(options_),
                                          .sampling = options_.sampling,
                                          .suppressed = search_.suppressed}),
                        std::move(model.weights), options_.compile);
  take_over(*executable_, options_.compile, options_.threads, vocabularies_.notes);
  pool_ = std::make_unique<SearchPool>(*executable_, search_);
  tuner_ = std::make_shared<BatchTuner>(first_bounds(), workers_of(options_.threads, *executable_));
  log_.write(notes());
}

BatchBounds Generator::Impl::fastest_batches() const {
  return find_backend(options_.compile.backend)
      .fastest_batches(static_cast<std::size_t>(*options_.beam_size));
}

BatchBounds Generator::Impl::first_bounds() const {
  return batch_bounds(options_.batches, fastest_batches(), /*by_content=*/false);
}

Workload Generator::Impl::workload() const {
  Workload workload =
      expected_workload(static_cast<std::size_t>(search_.beam_size), first_bounds());
  if (options_.sampling) workload.batch *= static_cast<double>(*options_.beam_size);
  return workload;
}

EncodedLine Generator::Impl::encode(std::string_view prompt, std::size_t number) const {
  EncodedLine encoded = encoder_->encode(prompt, number);
  encoded.stream = stream_of_line(options_.seed, number);
  return encoded;
}

Generation Generator::Impl::generate(std::string_view prompt) const {
  const SearchPool::Lease lease(*pool_, 1);
  std::vector<EncodedLine> batch{encode(prompt, 0)};
  Generation generation = std::move(generate_batch(*lease.searches()[0], batch)[0]);
  LineNotes notes(*options_.max_length);
  notes.add(0, generation.oddities);
  log_.write(notes.notes());
  return generation;
}

void Generator::Impl::run(const LineSource& next_line, const Sink& sink,
                          const InputReady& ready) const {
  const SearchPool::Lease lease(*pool_, workers_of(options_.threads, *executable_));
  std::vector<OrderedWorkers<EncodedLine, Generation>::Work> work;
  for (const auto& search : lease.searches())
    work.emplace_back([this, &search = *search](std::vector<EncodedLine>& batch) {
      return generate_batch(search, batch);
    });
  LineNotes notes(*options_.max_length);
  const Sink noting_sink = [&](std::size_t line, Generation&& generation) {
    notes.add(line, generation.oddities);
    sink(line, std::move(generation));
  };
  const BatchFormer former(options_.batches, fastest_batches(), work.size(), /*by_content=*/false,
                           tuner_);
  const auto encode_line = [this](std::string_view line, std::size_t number) {
    return encode(line, number);
  };
  run_lines<Generation>({encode_line, next_line, ready}, former, std::move(work),
                        log_.is_read() ? noting_sink : sink);
  log_.write(notes.notes());
  log_.write(tuner_->take_notes());
}

std::vector<NBest> Generator::Impl::search_batch(BeamSearch& search,
                                                 std::span<const EncodedLine> lines) const {
  const std::vector<WordIds> sentences(lines.size());  // without a source, they have no words
  std::vector<SearchGuide> prompts;
  std::vector<std::uint64_t> streams;
  for (const EncodedLine& line : lines) {
    prompts.push_back({.prefix = prompt_of(line)});
    streams.push_back(line.stream);
  }
  const Batch batch{.sentences = sentences};
  if (!options_.sampling) return search.search(batch, prompts);
  return search.search(SamplingStreams(streams).added_to(batch), prompts);
}

/// The same for samples of each line.
std::vector<NBest> Generator::Impl::draw_samples(BeamSearch& search,
                                                 std::span<const EncodedLine> lines) const {
  const auto samples = static_cast<std::size_t>(*options_.beam_size);
  return gathered_samples(search_batch(search, sampled_lines(lines, samples)), samples, 0);
}

std::vector<Generation> Generator::Impl::generate_batch(BeamSearch& search,
                                                        std::vector<EncodedLine>& batch) const {
  std::vector<NBest> found =
      options_.sampling ? draw_samples(search, batch) : search_batch(search, batch);
  std::vector<Generation> results;
  for (std::size_t i = 0; i < batch.size(); ++i)
    results.push_back(make_generation(batch[i], prompt_of(batch[i]), std::move(found[i])));
  return results;
}

Generation Generator::Impl::make_generation(const EncodedLine& line, const WordIds& prompt,
                                            NBest found) const {
  Generation result{.continuations = {},
                    .oddities = line.oddities,
                    .prompt_words = prompt.size(),
                    .prompt_bytes = line.bytes};
  for (Hypothesis& hypothesis : found) {
    std::span<const WordId> words = hypothesis.words;
    if (!options_.include_prompt) words = words.subspan(prompt.size());
    std::string text = one_line(vocabularies_.target->decode(words));
    result.continuations.push_back(
        {std::move(text), without_prompt(std::move(hypothesis), prompt.size())});
  }
  return result;
}

const Generator::Impl& Generator::impl() const { return static_cast<const Impl&>(state()); }

Generator::Generator(Model model, GeneratorOptions options)
    : ModelHandle(std::make_unique<const Impl>(std::move(model), std::move(options))) {}

Generator::Generator(const std::string& path, GeneratorOptions options)
    : Generator(load_model(path), std::move(options)) {}

Generation Generator::generate(std::string_view prompt) const { return impl().generate(prompt); }

std::vector<Generation> Generator::generate(const std::vector<std::string>& prompts) const {
  std::vector<Generation> results(prompts.size());
  const auto keep = [&](std::size_t line, Generation&& generation) {
    results[line] = std::move(generation);
  };
  impl().run(lines_of(prompts), keep, nullptr);
  return results;
}

std::vector<Generation> Generator::generate(std::initializer_list<std::string> prompts) const {
  return generate(std::vector<std::string>(prompts));
}

void Generator::generate(std::istream& input, const Sink& sink, const InputReady& ready) const {
  if (!sink) throw Error("the sink that receives continuations is empty");
  impl().run(lines_of(input), sink, ready);
}

}  // namespace fuselage
