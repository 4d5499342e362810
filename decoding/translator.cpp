#include "fuselage/decoding/translator.h"

#include <fmt/format.h>

#include <algorithm>
#include <istream>
#include <mutex>
#include <span>
#include <utility>

#include "decoding/batch_pipeline.h"
#include "decoding/batching.h"
#include "decoding/line_encoder.h"
#include "decoding/line_reader.h"
#include "decoding/resolve_options.h"
#include "decoding/vocabulary_pair.h"
#include "decoding/word_ranks.h"
#include "fuselage/backends/compile.h"
#include "fuselage/base/error.h"
#include "fuselage/decoding/beam_search.h"
#include "fuselage/decoding/search_head.h"
#include "fuselage/models/load_model.h"
#include "models/architectures/scores.h"
#include "text/shortlist.h"

namespace fuselage {
namespace {

/// Settings of the search; all members of `options` have values.
SearchOptions search_options(const TranslatorOptions& options, const Vocabulary& target) {
  SearchOptions search{.beam_size = options.beam_size.value(),
                       .normalize = options.normalize.value(),
                       .word_penalty = options.word_penalty.value(),
                       .max_length_factor = options.max_length_factor.value(),
                       .end_id = target.end_id(),
                       .alignment = options.alignment};
  if (!options.allow_unk.value()) search.suppressed.push_back(target.unknown_id());
  if (!options.allow_special)
    search.suppressed.insert(search.suppressed.end(), target.control_ids().begin(),
                             target.control_ids().end());
  return search;
}

/// `text` without line breaks, which words of a vocabulary may contain.
std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

Translation untranslated(const EncodedLine& line) {
  return {.oddities = line.oddities, .source_words = line.words.size(), .source_bytes = line.bytes};
}

}  // namespace

class Translator::Impl {
 public:
  Impl(Model model, TranslatorOptions options);

  /// Reads the next line; false at the end.
  using LineSource = std::function<bool(std::string& line)>;

  void run(const LineSource& next_line, const Sink& sink, const InputReady& ready) const;
  Translation translate(std::string_view line) const;

  const TranslatorOptions& options() const { return options_; }
  const std::vector<std::string>& notes() const { return vocabularies_.notes; }
  const Executable& executable() const { return *executable_; }

 private:
  class Lease;

  void load_shortlist(std::int64_t words);
  BatchBounds fastest_batches() const;
  std::vector<WordIds> shortlists_for(std::span<const WordIds> sentences) const;
  std::vector<Translation> translate_batch(BeamSearch& search,
                                           std::vector<EncodedLine>& batch) const;
  Translation empty_translation(const EncodedLine& line) const;
  Translation make_translation(const EncodedLine& line, NBest hypotheses) const;
  void log(const std::vector<std::string>& notes) const;

  TranslatorOptions options_;
  bool right_left_;
  VocabularyPair vocabularies_;
  SearchOptions search_;
  std::unique_ptr<const LineEncoder> encoder_;
  std::unique_ptr<const Shortlist> shortlist_;  ///< null: no shortlist
  std::unique_ptr<const Executable> executable_;
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<BeamSearch>> idle_;
  mutable std::mutex log_mutex_;
};

/// Searches of one call, taken from the translator's idle ones and returned to them at the end.
class Translator::Impl::Lease {
 public:
  explicit Lease(const Impl& owner, std::size_t count) : owner_(owner) {
    {
      const std::lock_guard lock(owner.mutex_);
      while (searches_.size() < count && !owner.idle_.empty()) {
        searches_.push_back(std::move(owner.idle_.back()));
        owner.idle_.pop_back();
      }
    }
    while (searches_.size() < count)
      searches_.push_back(std::make_unique<BeamSearch>(*owner.executable_, owner.search_));
  }
  ~Lease() {
    const std::lock_guard lock(owner_.mutex_);
    for (auto& search : searches_) owner_.idle_.push_back(std::move(search));
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  const std::vector<std::unique_ptr<BeamSearch>>& searches() const { return searches_; }

 private:
  const Impl& owner_;
  std::vector<std::unique_ptr<BeamSearch>> searches_;
};

Translator::Impl::Impl(Model model, TranslatorOptions options)
    : options_(resolved(std::move(options), model)), right_left_(model.right_left) {
  if (options_.skip_cost && options_.beam_size != 1)
    throw Error(fmt::format(
        "skip-cost needs beam-size 1, not {}: without normalization, scores of different "
        "hypotheses cannot be compared",
        *options_.beam_size));
  vocabularies_ = load_vocabulary_pair(model, options_.vocabularies);
  search_ = search_options(options_, *vocabularies_.target);
  encoder_ = std::make_unique<LineEncoder>(
      *vocabularies_.source,
      LineEncoder::Options{*options_.max_length, right_left_, options_.strict, ""});
  if (options_.alignment) expect_alignment(model.graph);
  if (!options_.frequency.empty())
    options_.compile.ranks =
        add_word_ranks(model, vocabularies_, options_.frequency, vocabularies_.notes);
  if (!options_.shortlist->path.empty()) load_shortlist(scores_of(model.graph).words);
  const auto with_head = shortlist_ ? with_shortlist_head : with_search_head;
  Graph graph =
      with_head(model.graph, options_.skip_cost ? SearchHead::k_best_logits : SearchHead::k_best,
                BeamSearch::candidates_per_row(search_), options_.alignment);
  options_.compile.workload = expected_workload(
      static_cast<std::size_t>(search_.beam_size),
      batch_bounds(options_.batches, fastest_batches(), options_.shortlist->union_of_batch));
  executable_ = compile(std::move(graph), std::move(model.weights), options_.compile);
  for (const std::string& note : executable_->notes()) vocabularies_.notes.push_back(note);
  log(notes());
}

void Translator::Impl::log(const std::vector<std::string>& notes) const {
  if (!options_.log) return;
  const std::lock_guard lock(log_mutex_);
  for (const std::string& note : notes) options_.log(note);
}

void Translator::Impl::load_shortlist(std::int64_t words) {
  const LexicalSides sides{*vocabularies_.source, *vocabularies_.target};
  shortlist_ = std::make_unique<Shortlist>(load_lexical_table(*options_.shortlist, sides), words,
                                           sides.target.end_id(), vocabularies_.shared);
}

BatchBounds Translator::Impl::fastest_batches() const {
  return find_backend(options_.compile.backend)
      .fastest_batches(static_cast<std::size_t>(search_.beam_size));
}

std::vector<WordIds> Translator::Impl::shortlists_for(std::span<const WordIds> sentences) const {
  std::vector<WordIds> lists;
  if (!shortlist_) return lists;
  if (!options_.shortlist->union_of_batch) {
    for (const WordIds& sentence : sentences) lists.push_back(shortlist_->words_for(sentence));
    return lists;
  }
  WordIds batch;
  for (const WordIds& sentence : sentences)
    batch.insert(batch.end(), sentence.begin(), sentence.end());
  lists.assign(sentences.size(), shortlist_->words_for(batch));
  return lists;
}

Translation Translator::Impl::translate(std::string_view line) const {
  const Lease lease(*this, 1);
  std::vector<EncodedLine> batch{encoder_->encode(line, 0)};
  Translation translation = std::move(translate_batch(*lease.searches()[0], batch)[0]);
  if (options_.log) {
    LineNotes notes(*options_.max_length);
    notes.add(0, translation.oddities);
    log(notes.notes());
  }
  return translation;
}

void Translator::Impl::run(const LineSource& next_line, const Sink& sink,
                           const InputReady& ready) const {
  const Lease lease(*this, std::max<std::size_t>(1, options_.threads));
  std::vector<OrderedWorkers<EncodedLine, Translation>::Work> work;
  for (const auto& search : lease.searches())
    work.emplace_back([this, &search = *search](std::vector<EncodedLine>& batch) {
      return translate_batch(search, batch);
    });
  std::string text;
  std::size_t number = 0;
  const auto next = [&](EncodedLine& line) {
    if (!next_line(text)) return false;
    line = encoder_->encode(text, number++);
    return true;
  };
  const auto length = [](const EncodedLine& line) { return line.words.size(); };
  LineNotes notes(*options_.max_length);
  const Sink noting_sink = [&](std::size_t line, Translation&& translation) {
    notes.add(line, translation.oddities);
    sink(line, std::move(translation));
  };
  const BatchFormer former(options_.batches, fastest_batches(), work.size(),
                           options_.shortlist->union_of_batch);
  run_batches<EncodedLine, Translation>({next, length, ready}, former, std::move(work),
                                        options_.log ? noting_sink : sink);
  log(notes.notes());
}

std::vector<Translation> Translator::Impl::translate_batch(BeamSearch& search,
                                                           std::vector<EncodedLine>& batch) const {
  std::vector<WordIds> sentences;
  for (const EncodedLine& line : batch)
    if (!line.empty()) sentences.push_back(line.words);
  std::vector<NBest> found;
  if (!sentences.empty()) found = search.search(sentences, shortlists_for(sentences));
  std::vector<Translation> results;
  std::size_t at = 0;
  for (const EncodedLine& line : batch)
    results.push_back(line.empty() ? empty_translation(line)
                                   : make_translation(line, std::move(found[at++])));
  return results;
}

Translation Translator::Impl::empty_translation(const EncodedLine& line) const {
  Hypothesis hypothesis{.words = {vocabularies_.target->end_id()}, .word_scores = {0}};
  if (options_.alignment) hypothesis.alignment = {{1}};
  Translation result = untranslated(line);
  result.n_best.push_back({"", std::move(hypothesis)});
  return result;
}

Translation Translator::Impl::make_translation(const EncodedLine& line, NBest hypotheses) const {
  Translation result = untranslated(line);
  for (Hypothesis& hypothesis : hypotheses) {
    std::vector<WordId> words = hypothesis.words;
    if (right_left_) std::reverse(words.begin(), words.end());
    result.n_best.push_back({one_line(vocabularies_.target->decode(words)), std::move(hypothesis)});
  }
  return result;
}

Translator::Translator(Model model, TranslatorOptions options)
    : impl_(std::make_unique<const Impl>(std::move(model), std::move(options))) {}

Translator::Translator(const std::string& path, TranslatorOptions options)
    : Translator(load_model(path), std::move(options)) {}

Translator::Translator(Translator&&) noexcept = default;
Translator& Translator::operator=(Translator&&) noexcept = default;
Translator::~Translator() = default;

Translation Translator::translate(std::string_view line) const { return impl_->translate(line); }

std::vector<Translation> Translator::translate(const std::vector<std::string>& lines) const {
  std::vector<Translation> results(lines.size());
  std::size_t at = 0;
  const auto next = [&](std::string& line) {
    if (at == lines.size()) return false;
    line = lines[at++];
    return true;
  };
  const auto keep = [&](std::size_t line, Translation&& translation) {
    results[line] = std::move(translation);
  };
  impl_->run(next, keep, nullptr);
  return results;
}

std::vector<Translation> Translator::translate(std::initializer_list<std::string> lines) const {
  return translate(std::vector<std::string>(lines));
}

void Translator::translate(std::istream& input, const Sink& sink, const InputReady& ready) const {
  if (!sink) throw Error("the sink that receives translations is empty");
  const auto next = [&](std::string& line) {
    if (read_line(input, line)) return true;
    if (input.bad()) throw Error("cannot read the input: the system reports an error");
    return false;
  };
  impl_->run(next, sink, ready);
}

const TranslatorOptions& Translator::options() const { return impl_->options(); }
const std::vector<std::string>& Translator::notes() const { return impl_->notes(); }
MemoryUse Translator::memory() const { return impl_->executable().memory(); }
std::vector<TableUse> Translator::table_use() const { return impl_->executable().table_use(); }

}  // namespace fuselage
