#include "decoding/translator.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "decoding/line_reader.h"
#include "decoding/word_ranks.h"
#include "fuselage/base/error.h"
#include "fuselage/decoding/search_head.h"
#include "models/architectures/scores.h"

namespace fuselage {
namespace {

SearchOptions fitted_search(SearchOptions search, const TranslatorOptions& options,
                            const Vocabulary& target) {
  search.end_id = target.end_id();
  search.suppressed.clear();
  if (!options.allow_unk) search.suppressed.push_back(target.unknown_id());
  if (!options.allow_special)
    search.suppressed.insert(search.suppressed.end(), target.control_ids().begin(),
                             target.control_ids().end());
  return search;
}

void check_options(const TranslatorOptions& options) {
  if (options.search.beam_size < 1)
    throw Error(fmt::format("beam-size must be at least 1, not {}", options.search.beam_size));
  if (!(options.search.max_length_factor > 0))
    throw Error(
        fmt::format("max-length-factor must be above 0, not {}", options.search.max_length_factor));
  if (options.skip_cost && options.search.beam_size != 1)
    throw Error(fmt::format(
        "skip-cost needs beam-size 1, not {}: without normalization, scores of different "
        "hypotheses cannot be compared",
        options.search.beam_size));
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

/// Searches of one call, taken from the translator's idle ones and returned to them at the end.
class Translator::Lease {
 public:
  explicit Lease(const Translator& owner, std::size_t count) : owner_(owner) {
    {
      const std::lock_guard lock(owner.mutex_);
      while (searches_.size() < count && !owner.idle_.empty()) {
        searches_.push_back(std::move(owner.idle_.back()));
        owner.idle_.pop_back();
      }
    }
    while (searches_.size() < count)
      searches_.push_back(std::make_unique<BeamSearch>(*owner.executable_, owner.options_.search));
  }
  ~Lease() {
    const std::lock_guard lock(owner_.mutex_);
    for (auto& search : searches_) owner_.idle_.push_back(std::move(search));
  }
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  const std::vector<std::unique_ptr<BeamSearch>>& searches() const { return searches_; }

 private:
  const Translator& owner_;
  std::vector<std::unique_ptr<BeamSearch>> searches_;
};

Translator::Translator(Model model, TranslatorOptions options)
    : options_(std::move(options)), right_left_(model.right_left) {
  check_options(options_);
  vocabularies_ = load_vocabulary_pair(model, options_.vocabularies);
  options_.search = fitted_search(options_.search, options_, *vocabularies_.target);
  encoder_ = std::make_unique<LineEncoder>(
      *vocabularies_.source,
      LineEncoder::Options{options_.max_length, right_left_, options_.strict, ""});
  if (options_.search.alignment) expect_alignment(model.graph);
  if (!options_.frequency.empty())
    options_.compile.ranks =
        add_word_ranks(model, vocabularies_, options_.frequency, vocabularies_.notes);
  if (!options_.shortlist.path.empty()) load_shortlist(scores_of(model.graph).words);
  const auto with_head = shortlist_ ? with_shortlist_head : with_search_head;
  Graph graph =
      with_head(model.graph, options_.skip_cost ? SearchHead::k_best_logits : SearchHead::k_best,
                BeamSearch::candidates_per_row(options_.search), options_.search.alignment);
  options_.compile.workload = expected_workload(
      static_cast<std::size_t>(options_.search.beam_size),
      batch_bounds(options_.batches, fastest_batches(), options_.shortlist.union_of_batch));
  executable_ = compile(std::move(graph), std::move(model.weights), options_.compile);
  for (const std::string& note : executable_->notes()) vocabularies_.notes.push_back(note);
}

Translator::~Translator() = default;

void Translator::load_shortlist(std::int64_t words) {
  const LexicalSides sides{*vocabularies_.source, *vocabularies_.target};
  shortlist_ = std::make_unique<Shortlist>(load_lexical_table(options_.shortlist, sides), words,
                                           sides.target.end_id(), vocabularies_.shared);
}

BatchBounds Translator::fastest_batches() const {
  return find_backend(options_.compile.backend)
      .fastest_batches(static_cast<std::size_t>(options_.search.beam_size));
}

std::vector<WordIds> Translator::shortlists_for(std::span<const WordIds> sentences) const {
  std::vector<WordIds> lists;
  if (!shortlist_) return lists;
  if (!options_.shortlist.union_of_batch) {
    for (const WordIds& sentence : sentences) lists.push_back(shortlist_->words_for(sentence));
    return lists;
  }
  WordIds batch;
  for (const WordIds& sentence : sentences)
    batch.insert(batch.end(), sentence.begin(), sentence.end());
  lists.assign(sentences.size(), shortlist_->words_for(batch));
  return lists;
}

std::vector<Translation> Translator::translate(const std::vector<std::string>& lines) const {
  std::vector<Translation> results(lines.size());
  std::size_t at = 0;
  const auto next = [&](std::string& line) {
    if (at == lines.size()) return false;
    line = lines[at++];
    return true;
  };
  run(
      next,
      [&](std::size_t line, Translation&& translation) { results[line] = std::move(translation); },
      nullptr);
  return results;
}

void Translator::translate(std::istream& input, const Sink& sink, const InputReady& ready) const {
  const auto next = [&](std::string& line) {
    if (read_line(input, line)) return true;
    if (input.bad()) throw Error("cannot read the input: the system reports an error");
    return false;
  };
  run(next, sink, ready);
}

void Translator::run(const LineSource& next_line, const Sink& sink, const InputReady& ready) const {
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
  const BatchFormer former(options_.batches, fastest_batches(), work.size(),
                           options_.shortlist.union_of_batch);
  run_batches<EncodedLine, Translation>({next, length, ready}, former, std::move(work), sink);
}

std::vector<Translation> Translator::translate_batch(BeamSearch& search,
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

Translation Translator::empty_translation(const EncodedLine& line) const {
  Hypothesis hypothesis{.words = {vocabularies_.target->end_id()}, .word_scores = {0}};
  if (options_.search.alignment) hypothesis.alignment = {{1}};
  Translation result = untranslated(line);
  result.n_best.push_back({"", std::move(hypothesis)});
  return result;
}

Translation Translator::make_translation(const EncodedLine& line, NBest hypotheses) const {
  Translation result = untranslated(line);
  for (Hypothesis& hypothesis : hypotheses) {
    std::vector<WordId> words = hypothesis.words;
    if (right_left_) std::reverse(words.begin(), words.end());
    result.n_best.push_back({one_line(vocabularies_.target->decode(words)), std::move(hypothesis)});
  }
  return result;
}

}  // namespace fuselage
