#include "decoding/translator_impl.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "base/machine/cores.h"
#include "decoding/lines/line_beam.h"
#include "decoding/lines/line_encoder.h"
#include "decoding/lines/line_numbers.h"
#include "decoding/lines/line_pipeline.h"
#include "decoding/lines/token_places.h"
#include "decoding/lines/word_ranks.h"
#include "decoding/queue/translate_in_order.h"
#include "decoding/resolve_options.h"
#include "decoding/sampling_streams.h"
#include "decoding/translation_notes.h"
#include "fuselage/backends/compile.h"
#include "fuselage/base/error.h"
#include "fuselage/decoding/search_head.h"
#include "models/architectures/scores.h"

namespace fuselage {
namespace {

bool needs_alignment(const TranslatorOptions& options) {
  return options.alignment || options.replace_unknowns || options.coverage_penalty > 0;
}

/// Settings of the search; all members of `options` have values.
SearchOptions search_options(const TranslatorOptions& options, const Vocabulary& target) {
  // Samples are searches of their own.
  const bool sampling = options.sampling.has_value();
  return {.beam_size = sampling ? 1 : options.beam_size.value(),
          .normalize = options.normalize.value(),
          .word_penalty = options.word_penalty.value(),
          .coverage_penalty = options.coverage_penalty,
          .max_length_factor = options.max_length_factor.value(),
          .max_words = options.max_words.value(),
          .min_length = options.min_length.value(),
          .beginning = {},
          .keep_beam = options.keep_beam.value(),
          .early_stopping = options.early_stopping.value(),
          .forced_end = options.forced_end.value(),
          .n_best = sampling ? 1 : options.n_best,
          .end_id = target.end_id(),
          .suppressed = words_to_suppress(target, options.allow_unk.value(), options.allow_special),
          .alignment = needs_alignment(options)};
}

/// The number of models of an ensemble; 0: the model is none.
std::size_t ensemble_size(const Graph& graph) {
  std::size_t count = 0;
  while (graph.find_output(member_output(count)).valid()) ++count;
  return count;
}

/// Whether steps read rows of all words before, as keys and values of self-attention.
bool has_prefix_rows(const Graph& graph) {
  for (std::uint32_t i = 0; i < graph.domain_count(); ++i)
    if (graph.domain(DomainId{i}).kind == DomainKind::prefix) return true;
  return false;
}

/// Throws unless the model has an alignment, and with its first text.
void expect_alignment_with(const Graph& graph, const SourceEncoder::Field& text) {
  expect_alignment(graph);
  const Type& type = graph.value(graph.find_output(kAlignment)).type;
  const Domain& pairs = graph.domain(type.domain);
  if (pairs.kind == DomainKind::pairs && pairs.right != text.domain)
    throw Error(
        fmt::format("the alignment of graph '{}' is with '{}', but only one with '{}', the "
                    "first text, can be given; drop the alignment",
                    graph.name(), graph.domain(pairs.right).name, graph.domain(text.domain).name));
}

/// Throws Error for options that need normalized scores, if there are none.
void expect_normalized_scores(const TranslatorOptions& options) {
  if (options.skip_cost && !repetition_of(options).is_off())
    throw Error(
        "skip-cost leaves scores without normalization, and penalties of repeated words are for "
        "log-probabilities; turn one of both off");
}

/// Throws Error for options that contradict sampling.
void expect_sampling_fits(const TranslatorOptions& options) {
  if (!options.sampling) return;
  if (options.skip_cost)
    throw Error(
        "skip-cost cannot go with output-sampling: words are drawn by probabilities, and without "
        "their cost they have none; leave one of the two out");
  if (*options.min_length > 0)
    throw Error(
        "min-length cannot go with output-sampling: the end symbol is drawn as any word; leave one "
        "of the two out");
  if (options.n_best > *options.beam_size)
    throw Error(
        fmt::format("n-best must be at most beam-size, the number of samples, which is {}, "
                    "not {}",
                    *options.beam_size, options.n_best));
}

/// Throws Error for a search that cannot look for terms.
void expect_terms_fit(const TranslatorOptions& options) {
  if (options.sampling)
    throw Error(
        "terms cannot go with output-sampling: words are drawn one by one, and a hypothesis that "
        "misses a term has no other to take its place; leave one of the two out");
  if (*options.beam_size < 2)
    throw Error(
        "terms need a beam-size of at least 2, not 1: some hypotheses have the next term already, "
        "others do not yet");
}

Translation untranslated(const EncodedLine& line) {
  return {.oddities = line.oddities, .source_words = line.words.size(), .source_bytes = line.bytes};
}

}  // namespace

Translator::Impl::Impl(Model model, TranslatorOptions options)
    : options_(resolved(std::move(options), model)),
      right_left_(model.right_left),
      source_language_(options_.source_language.empty() ? model.text.source_language
                                                        : options_.source_language),
      log_(options_.log) {
  if (options_.skip_cost && options_.beam_size != 1)
    throw Error(fmt::format(
        "skip-cost needs beam-size 1, not {}: without normalization, scores of different "
        "hypotheses cannot be compared",
        *options_.beam_size));
  expect_normalized_scores(options_);
  expect_sampling_fits(options_);
  vocabularies_ = load_vocabulary_pair(model, options_.vocabularies);
  search_ = search_options(options_, *vocabularies_.target);
  TextFrame frame = text_frame(model.text, *vocabularies_.source, *vocabularies_.target,
                               options_.source_language, options_.target_language);
  search_.beginning = frame.beginning;
  search_.suppressed.insert(search_.suppressed.end(), model.text.suppressed.begin(),
                            model.text.suppressed.end());
  // A penalty below 1 enlarges scores that rounding put above 0.
  search_.early_stop = !options_.skip_cost && options_.repetition_penalty >= 1.0f &&
                       never_above_zero(model.graph, scores_of(model.graph));
  verify(search_);
  if (options_.model_scores) search_.models = ensemble_size(model.graph);
  if (!options_.placeholders->empty())
    placeholders_ =
        std::make_unique<const Placeholders>(*vocabularies_.source, *options_.placeholders);
  encoder_ =
      std::make_unique<SourceEncoder>(model.graph, vocabularies_,
                                      LineEncoder::Options{.max_length = *options_.max_length,
                                                           .right_left = right_left_,
                                                           .strict = options_.strict,
                                                           .text = "",
                                                           .texts = options_.replace_unknowns,
                                                           .placeholders = placeholders_.get()},
                                      std::move(frame));
  if (options_.replace_unknowns)
    replacement_ = std::make_unique<UnknownReplacement>(
        *vocabularies_.target,
        options_.dictionary.empty()
            ? TranslationDictionary()
            : load_translation_dictionary(options_.dictionary, vocabularies_.source.get()));
  if (options_.guided) load_guides();
  if (search_.alignment) expect_alignment_with(model.graph, encoder_->fields().front());
  if (!options_.frequency.empty())
    options_.compile.ranks =
        add_word_ranks(model, vocabularies_, options_.frequency, vocabularies_.notes);
  if (!options_.shortlist->path.empty()) load_shortlist(scores_of(model.graph).words);
  graph_ = with_search_head(model.graph,
                            options_.skip_cost ? SearchHead::k_best_logits : SearchHead::k_best,
                            {.k = BeamSearch::candidates_per_row(search_),
                             .alignment = search_.alignment,
                             .shortlist = shortlist_ != nullptr,
                             .members = search_.models > 0,
                             .repetition = repetition_of(options_),
                             .penalizes_logits = *options_.keep_beam && search_.beam_size == 1,
                             .forbidden = model.text.forbidden,
                             .start_word = model.text.start_word,
                             .listed = search_.guided,
                             .sampling = options_.sampling,
                             .suppressed = search_.suppressed,
                             .renormalize = *options_.renormalize && !options_.skip_cost,
                             .min_length = search_.min_length,
                             .end_id = search_.end_id});
  options_.compile.workload = workload();
  executable_ = compile(graph_, std::move(model.weights), options_.compile);
  take_over(*executable_, options_.compile, options_.threads, vocabularies_.notes);
  note_host_search();
  pool_ = std::make_unique<SearchPool>(*executable_, search_);
  tuner_ = std::make_shared<BatchTuner>(first_bounds(), workers_of(options_.threads, *executable_));
  log_.write(notes());
}

void Translator::Impl::load_shortlist(std::int64_t words) {
  const LexicalSides sides{*vocabularies_.source, *vocabularies_.target};
  LexicalTable table = load_lexical_table(*options_.shortlist, sides);
  if (const auto size = static_cast<std::size_t>(sides.source.size());
      2 * table.source_words() < size)
    vocabularies_.notes.push_back(fmt::format(
        "{} has translations of the first {} source words only, but the vocabulary has {}; is it "
        "of this model?",
        options_.shortlist->path, table.source_words(), size));
  shortlist_ = std::make_unique<Shortlist>(std::move(table), words, sides.target.end_id(),
                                           vocabularies_.shared);
}

void Translator::Impl::load_guides() {
  if (options_.skip_cost)
    throw Error(
        "skip-cost leaves scores without normalization, which guides need to compare words; turn "
        "one of both off");
  if (options_.constraints || !options_.terminology.empty()) expect_terms_fit(options_);
  guide_encoder_ = std::make_unique<GuideEncoder>(
      *vocabularies_.source, *vocabularies_.target,
      GuideEncoder::Options{.prefix_field = options_.force_decode,
                            .term_fields = options_.constraints,
                            .source_texts = encoder_->fields().size(),
                            .max_length = *options_.max_length,
                            .right_left = right_left_,
                            .strict = options_.strict,
                            .texts = options_.replace_unknowns,
                            .terminology = options_.terminology});
  search_.guided = true;
  search_.continues_word = guide_encoder_->continuations();
  for (const std::string& note : guide_encoder_->notes()) vocabularies_.notes.push_back(note);
}

/// Notes the options that the search of a GPU does not have.
void Translator::Impl::note_host_search() {
  if (!find_backend(options_.compile.backend).capabilities().needs_gpu) return;
  std::vector<std::string_view> reasons;
  if (options_.guided) reasons.emplace_back("prefixes and terms");
  if (*options_.min_length > 0) reasons.emplace_back("a min-length");
  if (options_.coverage_penalty > 0) reasons.emplace_back("a coverage-penalty");
  if (search_.keep_beam && *options_.beam_size > 1) reasons.emplace_back("a beam that is kept");
  if (search_.forced_end) reasons.emplace_back("a forced end");
  if (!search_.beginning.empty()) reasons.emplace_back("the word of a target language");
  if (options_.replace_unknowns) reasons.emplace_back("replaced unknown words");
  if (!reasons.empty())
    vocabularies_.notes.push_back(
        fmt::format("for {} the processor directs the search step by step, not the GPU on its own",
                    fmt::join(reasons, ", ")));
}

EncodedLine Translator::Impl::encode(std::string_view line, std::size_t number,
                                     const LineGuide& guide) const {
  constexpr int kLinesOfPart = 40;  // bits
  number = guide.number.value_or(number);
  if (!guide_encoder_ && (!guide.prefix.empty() || !guide.terms.empty()))
    throw Error(fmt::format(
        "line {} has a guide, but the translator was made without; set the option guided",
        number + 1));
  EncodedLine encoded =
      guide_encoder_ ? encode_guided(line, number, guide) : encoder_->encode(line, number);
  encoded.stream =
      stream_of_line(options_.seed + (std::uint64_t{guide.part} << kLinesOfPart), number);
  add_beam(guide, options_, number, encoded.guide);
  return encoded;
}

/// What is given of a line, behind the text of a task.
LineContext Translator::Impl::context_of(std::string_view line, const LineGuide& guide) const {
  if (!placeholders_ || !guide_encoder_) return {};
  LineContext context = guide_encoder_->context(guide, line);
  const std::size_t task = encoder_->frame().task.size();
  for (LineContext::Term& term : context.terms)
    term.place = {term.place.begin + task, term.place.end + task};
  return context;
}

EncodedLine Translator::Impl::encode_guided(std::string_view line, std::size_t number,
                                            const LineGuide& guide) const {
  const GuideEncoder::GuidedLine fields = guide_encoder_->split(line, number);
  const LineGuide& given = guide_encoder_->reads_fields() ? fields.guide : guide;
  EncodedLine encoded = encoder_->encode(fields.source, number, context_of(fields.source, given));
  encoded.bytes = line.size() + 1;
  if (encoded.empty()) return encoded;
  guide_encoder_->encode(given, fields.source, number, encoded);
  if (!encoded.guide.terms.empty()) expect_terms_fit(options_);
  return encoded;
}

BatchBounds Translator::Impl::fastest_batches() const {
  return find_backend(options_.compile.backend)
      .fastest_batches(static_cast<std::size_t>(*options_.beam_size));
}

BatchBounds Translator::Impl::first_bounds() const {
  return batch_bounds(options_.batches, fastest_batches(), options_.shortlist->union_of_batch);
}

Workload Translator::Impl::workload() const {
  Workload workload =
      expected_workload(static_cast<std::size_t>(search_.beam_size), first_bounds());
  if (options_.sampling) workload.batch *= static_cast<double>(*options_.beam_size);
  return workload;
}

std::vector<WordIds> Translator::Impl::shortlists_for(std::span<const WordIds> sentences) const {
  std::vector<WordIds> lists;
  if (!shortlist_) return lists;
  if (options_.shortlist->union_of_batch) {
    WordIds batch;
    for (const WordIds& sentence : sentences)
      batch.insert(batch.end(), sentence.begin(), sentence.end());
    lists.assign(sentences.size(), shortlist_->words_for(batch));
  } else {
    for (const WordIds& sentence : sentences) lists.push_back(shortlist_->words_for(sentence));
  }
  const WordId unknown = vocabularies_.target->unknown_id();
  if (replacement_)
    for (WordIds& list : lists)
      if (const auto at = std::ranges::lower_bound(list, unknown);
          at == list.end() || *at != unknown)
        list.insert(at, unknown);
  return lists;
}

std::size_t Translator::Impl::count_tokens(std::string_view line) const {
  expect_one_text(vocabularies_, "a number of tokens");
  const TextFrame& frame = encoder_->frame();
  const std::string text = valid_text(frame.task + std::string(line));
  const Placeholders::Line read =
      encoder_->fields().front().encoder.with_placeholders(text, context_of(line, {}));
  return vocabularies_.source->encode(read.text.text()).size() + frame.size();
}

Translation Translator::Impl::translate(std::string_view line, const LineGuide& guide) const {
  const SearchPool::Lease lease(*pool_, 1);
  std::vector<EncodedLine> batch{encode(line, 0, guide)};
  Translation translation = std::move(translate_batch(*lease.searches()[0], batch)[0]);
  TranslationNotes notes(options_);
  notes.add(guide.number.value_or(0), translation);
  log_.write(notes.notes());
  return translation;
}

void Translator::Impl::run(const Lines& lines, const Sink& sink, const InputReady& ready) const {
  if (!log_.is_read()) return run_without_notes(lines, sink, ready);
  TranslationNotes notes(options_);
  LineNumbers numbers;
  const Lines numbered_lines = [&](std::string& line, LineGuide& guide) {
    if (!lines(line, guide)) return false;
    numbers.add(guide);
    return true;
  };
  const Sink noting_sink = [&](std::size_t line, Translation&& translation) {
    notes.add(numbers.take(line), translation);
    sink(line, std::move(translation));
  };
  run_without_notes(numbered_lines, noting_sink, ready);
  log_.write(notes.notes());
  log_.write(tuner_->take_notes());
}

void Translator::Impl::run_without_notes(const Lines& lines, const Sink& sink,
                                         const InputReady& ready) const {
  if (!has_threads())
    run_in_caller(lines, sink);
  else if (tops_up())
    translate_in_order(*this, lines, sink, ready);
  else
    run_batches(lines, sink, ready);
}

/// A bound in words is for batches that are made before they begin. On a GPU sorted
/// batches, whose size is tuned, have been measured, and top-up batching has not. Sorted batches
/// are faster for models that keep rows of all words, which lie far from one another in a store.
bool Translator::Impl::tops_up() const {
  if (has_prefix_rows(graph_)) return false;
  if (find_backend(options_.compile.backend).capabilities().needs_gpu) return false;
  const SearchPool::Lease lease(*pool_, 1);
  return has_places(*lease.searches()[0]) && options_.batches.mini_batch_words.value_or(0) == 0;
}

/// Batches of consecutive lines, in the thread of the caller.
void Translator::Impl::run_in_caller(const Lines& lines, const Sink& sink) const {
  const SearchPool::Lease lease(*pool_, 1);
  const std::size_t most = first_bounds().sentences;
  std::vector<EncodedLine> batch;
  std::size_t read = 0, written = 0;
  std::string line;
  for (bool more = true; more;) {
    LineGuide guide;
    more = lines(line, guide);
    if (more) batch.push_back(encode(line, read++, guide));
    if (batch.empty() || (more && batch.size() < most)) continue;
    for (Translation& translation : translate_batch(*lease.searches()[0], batch))
      sink(written++, std::move(translation));
    batch.clear();
  }
}

void Translator::Impl::run_batches(const Lines& lines, const Sink& sink,
                                   const InputReady& ready) const {
  const SearchPool::Lease lease(*pool_, workers_of(options_.threads, *executable_));
  std::vector<OrderedWorkers<EncodedLine, Translation>::Work> work;
  for (const auto& search : lease.searches())
    work.emplace_back([this, &search = *search](std::vector<EncodedLine>& batch) {
      return translate_batch(search, batch);
    });
  const BatchFormer former(options_.batches, fastest_batches(), work.size(),
                           options_.shortlist->union_of_batch, tuner_);
  LineGuide guide;
  const auto next_line = [&](std::string& line) {
    guide = {};
    return lines(line, guide);
  };
  const auto encode_line = [&](std::string_view line, std::size_t number) {
    return encode(line, number, guide);
  };
  run_lines<Translation>({encode_line, next_line, ready}, former, std::move(work), sink);
}

/// The guides of the lines that have words.
std::vector<SearchGuide> Translator::Impl::guides_of(std::span<const EncodedLine> lines) const {
  std::vector<SearchGuide> guides;
  for (const EncodedLine& line : lines)
    if (!line.empty()) guides.push_back(line.guide);
  return guides;
}

std::size_t Translator::Impl::words_of(const EncodedLine& line) const {
  std::size_t longest = line.words.size() + encoder_->frame().size();
  for (const WordIds& words : line.further) longest = std::max(longest, words.size());
  return longest;
}

void Translator::Impl::admit(BeamSearch& search, std::span<const EncodedLine> lines,
                             std::span<const std::int32_t> places) const {
  const SourceBatch source(*encoder_, lines);
  Batch input = source.batch();
  const std::vector<WordIds> shortlists = shortlists_for(input.sentences);
  input.shortlists = shortlists;
  search.admit(input, guides_of(lines), places);
}

/// The results of the lines that have words.
std::vector<NBest> Translator::Impl::search_batch(BeamSearch& search,
                                                  std::span<const EncodedLine> lines) const {
  const SourceBatch source(*encoder_, lines);
  Batch input = source.batch();
  if (input.sentences.empty()) return {};
  const std::vector<WordIds> shortlists = shortlists_for(input.sentences);
  input.shortlists = shortlists;
  const std::vector<SearchGuide> guides = guides_of(lines);
  if (!options_.sampling) return search.search(input, guides);
  std::vector<std::uint64_t> streams;
  for (const EncodedLine& line : lines)
    if (!line.empty()) streams.push_back(line.stream);
  return search.search(SamplingStreams(streams).added_to(input), guides);
}

/// The same for samples of each line.
std::vector<NBest> Translator::Impl::draw_samples(BeamSearch& search,
                                                  std::span<const EncodedLine> lines) const {
  const auto samples = static_cast<std::size_t>(*options_.beam_size);
  return gathered_samples(search_batch(search, sampled_lines(lines, samples)), samples,
                          static_cast<std::size_t>(options_.n_best));
}

std::vector<Translation> Translator::Impl::translate_batch(BeamSearch& search,
                                                           std::vector<EncodedLine>& batch) const {
  std::vector<NBest> found =
      options_.sampling ? draw_samples(search, batch) : search_batch(search, batch);
  std::vector<Translation> results;
  std::size_t at = 0;
  for (const EncodedLine& line : batch)
    results.push_back(line.empty() ? empty_translation(line)
                                   : make_translation(line, std::move(found[at++])));
  return results;
}

Translation Translator::Impl::empty_translation(const EncodedLine& line) const {
  Hypothesis hypothesis{.words = {vocabularies_.target->end_id()}, .word_scores = {0}};
  if (search_.alignment) hypothesis.alignment = {{1}};
  hypothesis.model_scores.assign(search_.models, 0);
  Translation result = untranslated(line);
  result.n_best.push_back({"", std::move(hypothesis)});
  return result;
}

Translation Translator::Impl::make_translation(const EncodedLine& line, NBest hypotheses) const {
  Translation result = untranslated(line);
  for (Hypothesis& hypothesis : hypotheses) {
    for (std::vector<float>& weights : hypothesis.alignment) encoder_->frame().unframe(weights);
    std::vector<WordId> words = hypothesis.words;
    std::vector<std::string> texts;
    if (replacement_) texts = replacement_->texts(hypothesis, line.texts, line.prefix_texts);
    if (right_left_) {
      std::reverse(words.begin(), words.end());
      std::reverse(texts.begin(), texts.end());
    }
    std::string text = one_line(vocabularies_.target->decode(words, texts));
    if (!line.placeholders.empty()) text = without_placeholders(text, line.placeholders).take();
    result.n_best.push_back({std::move(text), std::move(hypothesis)});
  }
  return result;
}

TokenSpans Translator::Impl::token_spans(std::string_view line, const TranslatedText& translation,
                                         const LineGuide& guide) const {
  expect_one_text(vocabularies_, "places of tokens");
  // The text of a task is before the text of the line.
  const std::string& task = encoder_->frame().task;
  const ReplacedText repaired = repaired_text(task + std::string(line));
  const Placeholders::Line read = encoder_->fields().front().encoder.with_placeholders(
      repaired.text(), context_of(line, guide));
  const std::string& source = read.text.text();
  TokenSpans spans{.source = places_of_pieces(source, vocabularies_.source->texts(source)),
                   .target = target_spans(translation, read.used)};
  for (TokenSpan& span : spans.source) {
    const TextSpan in_line = repaired.to_first(read.text.to_first({span.begin, span.end}));
    span = {in_line.begin - std::min(in_line.begin, task.size()),
            in_line.end - std::min(in_line.end, task.size())};
  }
  if (right_left_) {
    std::ranges::reverse(spans.source);
    std::ranges::reverse(spans.target);
  }
  return spans;
}

/// Places of words from the left to the right.
std::vector<TokenSpan> Translator::Impl::target_spans(const TranslatedText& translation,
                                                      std::span<const Placeholder> used) const {
  const Vocabulary& target = *vocabularies_.target;
  std::vector<WordId> words = translation.hypothesis.words;
  std::erase(words, target.end_id());
  if (right_left_) std::ranges::reverse(words);
  if (used.empty()) return places_of_words(translation.text, words, target);
  const std::string decoded = one_line(target.decode(words));
  const ReplacedText text = without_placeholders(decoded, used);
  // Unknown words may have texts, which are in the translation alone.
  if (text.text() != translation.text) return places_of_words(translation.text, words, target);
  std::vector<TokenSpan> spans = places_of_words(decoded, words, target);
  for (TokenSpan& span : spans) {
    const TextSpan in_text = text.to_text({span.begin, span.end});
    span = {in_text.begin, in_text.end};
  }
  return spans;
}

}  // namespace fuselage
