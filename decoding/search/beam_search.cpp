#include "fuselage/decoding/beam_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "decoding/search/final_scores.h"
#include "decoding/search/sentence_search.h"
#include "decoding/search/term_automaton.h"
#include "fuselage/backends/search.h"
#include "fuselage/base/error.h"

namespace fuselage {
namespace {

/// Maximum number of words of a translation: factor × source length, rounded up, and at least 1.
std::int32_t words_by_factor(float factor, std::int32_t source_length) {
  constexpr std::int32_t kMaxWords = 1 << 30;
  const float words = std::ceil(factor * static_cast<float>(source_length));
  if (words >= static_cast<float>(kMaxWords)) return kMaxWords;
  return words > 1 ? static_cast<std::int32_t>(words) : 1;
}

}  // namespace

BeamSearch::BeamSearch(BeamSearch&&) noexcept = default;
BeamSearch& BeamSearch::operator=(BeamSearch&&) noexcept = default;
BeamSearch::~BeamSearch() = default;

std::int32_t BeamSearch::candidates_per_row(const SearchOptions& options) {
  // The end symbol is no candidate where terms are missing, and of short hypotheses.
  // The end symbol takes no place of a beam that is kept.
  return options.beam_size + static_cast<std::int32_t>(options.suppressed.size()) +
         (options.guided || options.min_length > 0 || options.keep_beam ? 1 : 0);
}

void verify(const SearchOptions& options) {
  if (options.beam_size < 1)
    throw Error(fmt::format("beam-size must be at least 1, not {}", options.beam_size));
  if (options.n_best < 0 || options.n_best > options.beam_size)
    throw Error(fmt::format("n-best must be from 1 to beam-size, which is {}, or 0 for all, not {}",
                            options.beam_size, options.n_best));
  if (!(options.coverage_penalty >= 0) || !std::isfinite(options.coverage_penalty))
    throw Error(
        fmt::format("coverage-penalty must be at least 0, not {}", options.coverage_penalty));
  if (options.coverage_penalty > 0 && !options.alignment)
    throw Error("a coverage-penalty needs alignments; turn them on");
  if (options.min_length < 0 || options.min_length > kMaxMinLength)
    throw Error(
        fmt::format("min-length must be from 0 to {}, not {}", kMaxMinLength, options.min_length));
}

BeamSearch::BeamSearch(const Executable& executable, SearchOptions options, std::size_t device)
    : options_(std::move(options)),
      worker_(executable.make_worker(device)),
      best_scores_(executable.output(kBestScores)),
      best_words_(executable.output(kBestWords)),
      final_scores_(std::make_unique<FinalScores>(options_.word_penalty, options_.normalize)) {
  verify(options_);
  if (options_.n_best == 0) options_.n_best = options_.beam_size;
  settings_ = {.beam_size = options_.beam_size,
               .end_id = options_.end_id,
               .suppressed = options_.suppressed,
               .length_limits = {}};
  std::sort(settings_.suppressed.begin(), settings_.suppressed.end());
  if (options_.alignment) alignment_output_ = executable.output(kAlignment);
  for (std::size_t i = 0; i < options_.models; ++i)
    model_outputs_.push_back(executable.output(member_output(i)));
  if (options_.guided) listed_scores_ = executable.output(kListedScores);
}

bool BeamSearch::keeps_beam(const SentenceSearch& sentence) const {
  return options_.keep_beam && sentence.beam_size > 1;
}

SentenceSearch& BeamSearch::of(const Live& live) {
  return sentences_[static_cast<std::size_t>(live.sentence)];
}

const SentenceSearch& BeamSearch::of(const Live& live) const {
  return sentences_[static_cast<std::size_t>(live.sentence)];
}

bool BeamSearch::suppressed(std::int32_t word) const {
  return std::binary_search(settings_.suppressed.begin(), settings_.suppressed.end(), word);
}

std::vector<NBest> BeamSearch::search(const Batch& batch, std::span<const SearchGuide> guides) {
  begin_batch(batch, guides);
  steps_ = 0;
  const bool by_worker = !needs_steps() && !with_guides_ && worker_->search(settings_, record_);
  if (by_worker)
    for (const SearchRecord::Finished& finished : record_.finished)
      sentences_[static_cast<std::size_t>(finished.sentence)].record.finished.push_back(finished);
  else
    search_by_steps();
  std::vector<NBest> results;
  for (const SentenceSearch& sentence : sentences_)
    results.push_back(n_best(sentence, by_worker ? record_.tokens : sentence.record.tokens));
  return results;
}

bool BeamSearch::needs_steps() const {
  return options_.alignment || options_.models > 0 || options_.min_length > 0 ||
         options_.forced_end || (options_.keep_beam && options_.beam_size > 1);
}

void BeamSearch::begin_batch(const Batch& batch, std::span<const SearchGuide> guides) {
  check(guides.empty() || guides.size() == batch.size(), "not every sentence has a guide");
  store_.reset();
  place_search_ = nullptr;
  const std::size_t count = batch.sentences.size();
  const SearchGuide none;
  sentences_.resize(count);
  for (std::size_t s = 0; s < count; ++s)
    begin_sentence(sentences_[s], static_cast<std::int32_t>(batch.sentences[s].size()),
                   guides.empty() ? none : guides[s]);
  with_guides_ = std::ranges::any_of(
      sentences_, [](const SentenceSearch& sentence) { return !sentence.guide.empty(); });
  with_shortlists_ = !batch.shortlists.empty();
  lists_.clear();
  if (has_lists())
    for (std::size_t s = 0; s < count; ++s)
      lists_.push_back(
          listed_words(sentences_[s], with_shortlists_ ? batch.shortlists[s] : WordIds()));
  settings_.length_limits.clear();
  StepLimits limits;
  for (const SentenceSearch& sentence : sentences_) {
    limits.hypotheses.push_back(sentence.beam_size);
    limits.steps.push_back(sentence.word_limit);
    settings_.length_limits.push_back(sentence.word_limit);
  }
  Batch listing = batch;
  listing.shortlists = lists_;
  // First, since it needs by far the most memory, and its error states how much.
  worker_->begin(listing, limits);
  for (SentenceSearch& sentence : sentences_) reserve_record(sentence);
  reserve_steps(count);
}

/// Sets the limits and the guide of a sentence whose search begins.
void BeamSearch::begin_sentence(SentenceSearch& sentence, std::int32_t source_length,
                                const SearchGuide& guide) {
  sentence.source_length = source_length;
  sentence.guide = guide;
  sentence.guide.prefix.insert(sentence.guide.prefix.begin(), options_.beginning.begin(),
                               options_.beginning.end());
  sentence.terms = TermAutomaton();
  if (!guide.terms.empty()) {
    check(options_.guided, "terms need the scores of listed words");
    sentence.terms = TermAutomaton(sentence.guide.terms, options_.continues_word);
  }
  sentence.word_limit = sentence.prefix_length() + length_limit(source_length);
  sentence.beam_size = beam_of(guide);
  sentence.n_best = guide.n_best > 0 ? guide.n_best : std::min(options_.n_best, sentence.beam_size);
  check(sentence.n_best <= sentence.beam_size, "n-best is larger than the beam");
  // Those of a search with this beam.
  sentence.candidates_per_row =
      candidates_per_row(options_) - options_.beam_size + sentence.beam_size;
  sentence.best.reset(keeps_beam(sentence) && options_.early_stopping != EarlyStopping::never
                          ? static_cast<std::size_t>(sentence.beam_size)
                          : static_cast<std::size_t>(sentence.n_best));
}

/// Empties the record of a sentence, with storage for its longest search.
void BeamSearch::reserve_record(SentenceSearch& sentence) const {
  const auto tokens = static_cast<std::size_t>(
      words_for(sentence.source_length, sentence.guide.prefix.size(), sentence.beam_size));
  sentence.record.tokens.clear();
  sentence.record.tokens.reserve(tokens);
  sentence.record.finished.clear();
  sentence.record.finished.reserve(2 * static_cast<std::size_t>(sentence.beam_size));
  sentence.alignments.clear();
  if (options_.alignment)
    sentence.alignments.reserve(tokens * static_cast<std::size_t>(sentence.source_length));
  sentence.model_scores.clear();
  sentence.model_scores.reserve(tokens * options_.models);
}

std::int32_t BeamSearch::beam_of(const SearchGuide& guide) const {
  check(guide.beam_size <= options_.beam_size, "the beam of a sentence is wider than the search's");
  return guide.beam_size > 0 ? guide.beam_size : options_.beam_size;
}

/// The most words that the hypotheses of a sentence have together, behind a prefix of `prefix`
/// words.
std::int64_t BeamSearch::words_for(std::int64_t source_words, std::size_t prefix,
                                   std::int32_t beam) const {
  return static_cast<std::int64_t>(prefix) +
         std::int64_t{beam} * length_limit(static_cast<std::int32_t>(source_words));
}

/// Reserves storage for steps of `sentences` sentences, none of which has begun.
void BeamSearch::reserve_steps(std::size_t sentences) {
  const auto beam = static_cast<std::size_t>(options_.beam_size);
  const std::size_t rows = sentences * beam;
  live_.clear();
  states_.clear();
  live_.reserve(rows);
  next_live_.reserve(rows);
  states_.reserve(rows);
  next_states_.reserve(rows);
  ended_.clear();
  ended_.reserve(sentences);
  candidates_.reserve(beam * static_cast<std::size_t>(candidates_per_row(options_)));
  for (auto* list : {&parents_, &parent_sentence_, &hypothesis_parent_, &words_, &positions_})
    list->reserve(rows);
  alignment_begin_.reserve(rows + 1);
  list_begin_.reserve(rows + 1);
}

/// The words of a sentence's shortlist, if it has one, and those whose scores the search reads.
WordIds BeamSearch::listed_words(const SentenceSearch& sentence, WordIds list) {
  const SearchGuide& guide = sentence.guide;
  if (guide.prefix.empty() && guide.terms.empty()) return list;
  list.insert(list.end(), guide.prefix.begin(), guide.prefix.end());
  for (const TermForms& forms : guide.terms)
    for (const WordIds& form : forms) list.insert(list.end(), form.begin(), form.end());
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

std::int32_t BeamSearch::length_limit(std::int32_t source_length) const {
  if (options_.max_words == 0) return words_by_factor(options_.max_length_factor, source_length);
  const auto beginning = static_cast<std::int32_t>(options_.beginning.size());
  return std::max(options_.max_words - beginning, 1);
}

std::int32_t BeamSearch::not_counted(const SentenceSearch& sentence) const {
  if (options_.guided) return 0;
  return sentence.prefix_length() - static_cast<std::int32_t>(options_.beginning.size());
}

void BeamSearch::search_by_steps() {
  for (std::size_t s = 0; s < sentences_.size(); ++s) begin_search(static_cast<std::int32_t>(s));
  while (!live_.empty()) {
    run_step();
    expand();
    ++steps_;
  }
}

void BeamSearch::begin_search(std::int32_t sentence) {
  live_.push_back({sentence, -1, -1, 0, 0});
  states_.emplace_back();
}

void BeamSearch::run_step() {
  for (auto* list : {&parents_, &parent_sentence_, &hypothesis_parent_, &words_, &positions_})
    list->clear();
  for (std::size_t h = 0; h < live_.size(); ++h) {
    const Live& live = live_[h];
    // Hypotheses of a sentence are adjacent and few: search them for a sibling.
    std::int32_t parent = -1;
    for (std::size_t i = h; live.row >= 0 && i-- > 0 && live_[i].sentence == live.sentence;)
      if (live_[i].row == live.row) parent = hypothesis_parent_[i];
    if (parent < 0) {
      parent = static_cast<std::int32_t>(parents_.size());
      parents_.push_back(live.row);
      parent_sentence_.push_back(live.sentence);
    }
    hypothesis_parent_.push_back(parent);
    words_.push_back(live.token < 0 ? -1 : of(live).token(live.token).word);
    positions_.push_back(live.length);
  }
  worker_->step({parents_, parent_sentence_, hypothesis_parent_, words_, positions_});
}

void BeamSearch::expand() {
  next_live_.clear();
  next_states_.clear();
  ended_.clear();
  alignment_begin_.assign(1, 0);
  if (options_.alignment)
    for (const Live& live : live_)
      alignment_begin_.push_back(alignment_begin_.back() + of(live).source_length);
  list_begin_.assign(1, 0);
  if (!lists_.empty())
    for (const Live& live : live_)
      list_begin_.push_back(list_begin_.back() +
                            std::ssize(lists_[static_cast<std::size_t>(live.sentence)]));
  for (std::size_t begin = 0; begin < live_.size();) {
    const std::int32_t sentence = live_[begin].sentence;
    std::size_t end = begin;
    while (end < live_.size() && live_[end].sentence == sentence) ++end;
    expand_sentence(begin, end);
    if (next_live_.empty() || next_live_.back().sentence != sentence) ended_.push_back(sentence);
    begin = end;
  }
  std::swap(live_, next_live_);
  std::swap(states_, next_states_);
}

void BeamSearch::expand_sentence(std::size_t begin, std::size_t end) {
  const Live& live = live_[begin];
  const SentenceSearch& sentence = of(live);
  if (live.length < sentence.prefix_length()) {
    take_forced(begin, sentence.guide.prefix[static_cast<std::size_t>(live.length)]);
    return;
  }
  if (options_.forced_end && live.length + 1 >= sentence.word_limit) {
    force_ends(begin, end);
  } else {
    collect_candidates(begin, end, /*may_be_short=*/false);
    // Where all other words are penalized, a short hypothesis may end.
    if (options_.min_length > 0 && !has_candidate())
      collect_candidates(begin, end, /*may_be_short=*/true);
  }
  take_candidates(begin, end);
}

void BeamSearch::take_forced(std::size_t row, std::int32_t word) {
  check(word >= 0, "a word of a prefix is not in the vocabulary");
  const Live& live = live_[row];
  SentenceSearch& sentence = of(live);
  float score = 0;
  if (options_.guided && live.length >= std::ssize(options_.beginning)) {
    score = listed_score(listed_scores_, row, word);
    if (!std::isfinite(score)) throw Error(scores_are_not_numbers(live.length));
  }
  const auto token = static_cast<std::int32_t>(sentence.record.tokens.size());
  sentence.record.tokens.push_back({word, live.token, score});
  if (options_.alignment) keep_alignment(sentence, static_cast<std::int64_t>(row));
  keep_model_scores(sentence, row, word);
  next_live_.push_back({live.sentence, token, static_cast<std::int32_t>(row), live.length + 1,
                        live.path_score + score});
  next_states_.push_back(after(sentence, row, word));
}

TermState BeamSearch::after(const SentenceSearch& sentence, std::size_t row,
                            std::int32_t word) const {
  return sentence.terms.empty() ? TermState{} : sentence.terms.advance(states_[row], word);
}

void BeamSearch::force_ends(std::size_t begin, std::size_t end) {
  candidates_.clear();
  for (std::size_t row = begin; row < end; ++row)
    candidates_.push_back(
        {live_[row].path_score, 0, static_cast<std::int32_t>(row), options_.end_id});
}

bool BeamSearch::has_candidate() const {
  return std::ranges::any_of(candidates_, [](const Candidate& candidate) {
    return !(candidate.path_score == -std::numeric_limits<float>::infinity());
  });
}

void BeamSearch::collect_candidates(std::size_t begin, std::size_t end, bool may_be_short) {
  const OutputRows<float> scores = worker_->floats(best_scores_);
  const OutputRows<std::int32_t> words = worker_->integers(best_words_);
  const SentenceSearch& sentence = of(live_[begin]);
  const bool is_short = !may_be_short && live_[begin].length - (sentence.prefix_length() -
                                                                std::ssize(options_.beginning)) <
                                             options_.min_length;
  const auto counted = static_cast<std::size_t>(sentence.candidates_per_row);
  candidates_.clear();
  for (std::size_t row = begin; row < end; ++row) {
    const bool may_end =
        !is_short && (sentence.terms.empty() || sentence.terms.all_met(states_[row]));
    const auto row_scores = scores.row(static_cast<std::int64_t>(row));
    const auto row_words = words.row(static_cast<std::int64_t>(row));
    // A row may have fewer, of a small vocabulary or where words are drawn.
    for (std::size_t i = 0; i < std::min(counted, row_words.size()); ++i)
      if (row_words[i] >= 0 && !suppressed(row_words[i]) &&
          (may_end || row_words[i] != options_.end_id))
        candidates_.push_back({live_[row].path_score + row_scores[i], row_scores[i],
                               static_cast<std::int32_t>(row), row_words[i]});
    if (!sentence.terms.empty()) add_term_candidates(row);
  }
}

/// The next words of open terms that are not among the best words.
void BeamSearch::add_term_candidates(std::size_t row) {
  const Live& live = live_[row];
  const auto is_of_row = [row](const Candidate& candidate) {
    return candidate.row == static_cast<std::int32_t>(row);
  };
  const auto first = std::ranges::find_if(candidates_, is_of_row) - candidates_.begin();
  of(live).terms.for_next_words(states_[row], [&](std::int32_t word) {
    const auto own = std::span(candidates_).subspan(static_cast<std::size_t>(first));
    if (std::ranges::find(own, word, &Candidate::word) != own.end()) return;
    const float score = listed_score(listed_scores_, row, word);
    if (std::isfinite(score))
      candidates_.push_back({live.path_score + score, score, static_cast<std::int32_t>(row), word});
  });
}

/// Brings the `width` candidates that are taken to the front, the best first.
void BeamSearch::order_candidates(const SentenceSearch& sentence, std::size_t width) {
  if (!sentence.terms.empty()) divide_beam(sentence.terms, width);
  std::partial_sort(candidates_.begin(), candidates_.begin() + static_cast<std::ptrdiff_t>(width),
                    candidates_.end(), [](const Candidate& a, const Candidate& b) {
                      if (a.path_score != b.path_score) return a.path_score > b.path_score;
                      return a.row != b.row ? a.row < b.row : a.word < b.word;
                    });
}

/// Keeps `width` candidates: the best of each bank, then the second best of each, and so on, those
/// with more words of terms first.
void BeamSearch::divide_beam(const TermAutomaton& terms, std::size_t width) {
  ranks_.clear();
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    const TermState& state = states_[static_cast<std::size_t>(candidates_[i].row)];
    ranks_.push_back({terms.words_met(terms.advance(state, candidates_[i].word)), 0, i});
  }
  std::ranges::sort(ranks_, [&](const Rank& a, const Rank& b) {
    if (a.bank != b.bank) return a.bank > b.bank;
    const Candidate& x = candidates_[a.candidate];
    const Candidate& y = candidates_[b.candidate];
    if (x.path_score != y.path_score) return x.path_score > y.path_score;
    return x.row != y.row ? x.row < y.row : x.word < y.word;
  });
  for (std::size_t i = 1; i < ranks_.size(); ++i)
    if (ranks_[i].bank == ranks_[i - 1].bank) ranks_[i].rank = ranks_[i - 1].rank + 1;
  std::ranges::stable_sort(ranks_, {}, &Rank::rank);
  ranks_.resize(std::min(width, ranks_.size()));
  std::ranges::sort(ranks_, {}, &Rank::candidate);
  for (std::size_t i = 0; i < ranks_.size(); ++i) candidates_[i] = candidates_[ranks_[i].candidate];
  candidates_.resize(ranks_.size());
}

void BeamSearch::take_candidates(std::size_t begin, std::size_t end) {
  const std::int32_t number = live_[begin].sentence;
  SentenceSearch& sentence = of(live_[begin]);
  const std::int32_t length = live_[begin].length + 1;
  const bool first = live_[begin].length == sentence.prefix_length();
  const auto beam = static_cast<std::size_t>(sentence.beam_size);
  const std::size_t wanted = keeps_beam(sentence) ? 2 * beam : first ? beam : end - begin;
  const std::size_t width = std::min(wanted, candidates_.size());
  order_candidates(sentence, width);
  if (width == 0 || !std::isfinite(candidates_[0].path_score))
    throw Error(scores_are_not_numbers(length - 1));
  const std::size_t first_open = next_live_.size();
  SearchRecord& record = sentence.record;
  const std::size_t first_finished = record.finished.size();
  const bool cut = length >= sentence.word_limit;
  for (std::size_t i = 0; i < width; ++i) {
    const Candidate& chosen = candidates_[i];
    if (!std::isfinite(chosen.path_score)) break;
    const bool ends = chosen.word == options_.end_id || cut;
    // Of a beam that is kept, only the first ranks end.
    if (ends ? i >= beam : next_live_.size() - first_open == beam) continue;
    const auto row = static_cast<std::size_t>(chosen.row);
    const auto token = static_cast<std::int32_t>(record.tokens.size());
    record.tokens.push_back({chosen.word, live_[row].token, chosen.score});
    if (options_.alignment) keep_alignment(sentence, chosen.row);
    keep_model_scores(sentence, row, chosen.word);
    if (ends) {
      record.finished.push_back({number, token, length, chosen.path_score});
      continue;
    }
    next_live_.push_back({number, token, chosen.row, length, chosen.path_score});
    next_states_.push_back(after(sentence, row, chosen.word));
  }
  if (options_.early_stop || keeps_beam(sentence))
    drop_if_decided(sentence, first_open, first_finished);
}

void BeamSearch::drop_if_decided(SentenceSearch& sentence, std::size_t first_open,
                                 std::size_t first_finished) {
  const auto& finished = sentence.record.finished;
  for (std::size_t i = first_finished; i < finished.size(); ++i)
    sentence.best.add(final_score(sentence, finished[i]));
  if (!is_decided(sentence, std::span(next_live_).subspan(first_open))) return;
  next_live_.resize(first_open);
  next_states_.resize(first_open);
}

/// Whether no open hypothesis of a sentence goes on.
bool BeamSearch::is_decided(const SentenceSearch& sentence, std::span<const Live> open) const {
  if (open.empty()) return true;
  const BestScores& best = sentence.best;
  const std::int32_t uncounted = not_counted(sentence);
  if (keeps_beam(sentence) && options_.early_stopping == EarlyStopping::first)
    return best.is_full();
  // As Transformers has it: the length is that of the step.
  if (keeps_beam(sentence) && options_.early_stopping == EarlyStopping::heuristic)
    return best.is_full() &&
           !best.beaten_by(final_scores_->of(open[0].path_score, open[0].length - uncounted));
  if (!options_.early_stop) return false;
  return std::ranges::all_of(open, [&](const Live& hypothesis) {
    return best.beats(final_scores_->bound(hypothesis.path_score, hypothesis.length + 1 - uncounted,
                                           sentence.word_limit - uncounted));
  });
}

void BeamSearch::keep_alignment(SentenceSearch& sentence, std::int64_t row) {
  const OutputRows<float> weights = worker_->floats(alignment_output_);
  sentence.alignments.insert(sentence.alignments.end(),
                             weights.data + alignment_begin_[static_cast<std::size_t>(row)],
                             weights.data + alignment_begin_[static_cast<std::size_t>(row) + 1]);
}

void BeamSearch::keep_model_scores(SentenceSearch& sentence, std::size_t row, std::int32_t word) {
  const Live& live = live_[row];
  const bool counts = live.length >= (options_.guided ? std::ssize(options_.beginning)
                                                      : std::ssize(sentence.guide.prefix));
  const std::size_t models = model_outputs_.size();
  for (std::size_t i = 0; i < models; ++i) {
    const float before =
        live.token < 0 ? 0
                       : sentence.model_scores[static_cast<std::size_t>(live.token) * models + i];
    sentence.model_scores.push_back(counts ? before + model_score(i, row, word) : before);
  }
}

float BeamSearch::model_score(std::size_t model, std::size_t row, std::int32_t word) const {
  if (with_shortlists_) return listed_score(model_outputs_[model], row, word);
  const OutputRows<float> scores = worker_->floats(model_outputs_[model]);
  return scores.row(static_cast<std::int64_t>(row))[static_cast<std::size_t>(word)];
}

float BeamSearch::listed_score(std::size_t output, std::size_t row, std::int32_t word) const {
  const WordIds& words = lists_[static_cast<std::size_t>(live_[row].sentence)];
  const auto at = std::lower_bound(words.begin(), words.end(), word);
  check(at != words.end() && *at == word, "a chosen word is not listed");
  return worker_->floats(output).row(list_begin_[row] + (at - words.begin()))[0];
}

}  // namespace fuselage
