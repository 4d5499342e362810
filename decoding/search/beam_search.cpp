#include "fuselage/decoding/beam_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "decoding/search/final_scores.h"
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

bool BeamSearch::suppressed(std::int32_t word) const {
  return std::binary_search(settings_.suppressed.begin(), settings_.suppressed.end(), word);
}

void BeamSearch::reserve(const Batch& batch) {
  const std::span<const WordIds> sentences = batch.sentences;
  StepLimits limits;
  std::size_t tokens = 0;
  std::size_t rows = 0;
  std::size_t weights = 0;
  const auto beam = static_cast<std::size_t>(options_.beam_size);
  source_lengths_.clear();
  settings_.length_limits.clear();
  for (std::size_t s = 0; s < sentences.size(); ++s) {
    const auto length = static_cast<std::int32_t>(sentences[s].size());
    const std::int32_t prefix = prefix_length(static_cast<std::int32_t>(s));
    const std::int32_t words = length_limit(length);
    source_lengths_.push_back(length);
    limits.hypotheses.push_back(options_.beam_size);
    settings_.length_limits.push_back(prefix + words);
    limits.steps.push_back(prefix + words);
    const std::size_t chosen =
        static_cast<std::size_t>(prefix) + beam * static_cast<std::size_t>(words);
    tokens += chosen;
    rows += beam;
    weights += chosen * sentences[s].size();
  }
  // First, since it needs by far the most memory, and its error states how much.
  worker_->begin(batch, limits);
  record_.tokens.clear();
  record_.tokens.reserve(tokens);
  record_.finished.clear();
  record_.finished.reserve(rows);
  live_.clear();
  live_.reserve(rows);
  next_live_.reserve(rows);
  if (options_.early_stop || keeps_beam()) best_finished_.resize(sentences.size());
  for (BestScores& best : best_finished_)
    best.reset(keeps_beam() && options_.early_stopping != EarlyStopping::never
                   ? beam
                   : static_cast<std::size_t>(options_.n_best));
  candidates_.reserve(beam * static_cast<std::size_t>(candidates_per_row(options_)));
  for (auto* list : {&parents_, &parent_sentence_, &hypothesis_parent_, &words_, &positions_})
    list->reserve(rows);
  if (!terms_.empty())
    for (auto* states : {&states_, &next_states_}) states->reserve(rows);
  alignments_.clear();
  token_alignment_.clear();
  alignment_begin_.reserve(rows + 1);
  model_scores_.clear();
  model_scores_.reserve(tokens * options_.models);
  list_begin_.reserve(rows + 1);
  if (options_.alignment) {
    alignments_.reserve(weights);
    token_alignment_.reserve(tokens);
  }
}

std::vector<NBest> BeamSearch::search(const Batch& batch, std::span<const SearchGuide> guides) {
  take_guides(batch, guides);
  Batch listing = batch;
  listing.shortlists = lists_;
  reserve(listing);
  steps_ = 0;
  const bool by_steps = options_.alignment || options_.models > 0 || options_.min_length > 0 ||
                        options_.forced_end || keeps_beam() || !guides_.empty();
  if (by_steps || !worker_->search(settings_, record_)) search_by_steps();
  return n_best(batch.sentences);
}

void BeamSearch::take_guides(const Batch& batch, std::span<const SearchGuide> guides) {
  check(guides.empty() || guides.size() == batch.size(), "not every sentence has a guide");
  const auto has_terms = [](const SearchGuide& guide) { return !guide.terms.empty(); };
  const auto is_plain = [](const SearchGuide& guide) {
    return guide.prefix.empty() && guide.terms.empty();
  };
  guides_ = std::ranges::all_of(guides, is_plain) ? std::span<const SearchGuide>{} : guides;
  if (!options_.beginning.empty()) {
    own_guides_.assign(guides.begin(), guides.end());
    own_guides_.resize(batch.size());
    for (SearchGuide& guide : own_guides_)
      guide.prefix.insert(guide.prefix.begin(), options_.beginning.begin(),
                          options_.beginning.end());
    guides_ = own_guides_;
  }
  terms_.clear();
  if (std::ranges::any_of(guides_, has_terms)) {
    check(options_.guided, "terms need the scores of listed words");
    for (const SearchGuide& guide : guides_)
      terms_.push_back(guide.terms.empty() ? TermAutomaton()
                                           : TermAutomaton(guide.terms, options_.continues_word));
  }
  list_words(batch);
}

/// A sentence lists the words of its shortlist, and those whose scores the search reads.
void BeamSearch::list_words(const Batch& batch) {
  with_shortlists_ = !batch.shortlists.empty();
  lists_.assign(batch.shortlists.begin(), batch.shortlists.end());
  if (!with_shortlists_ && !options_.guided) return;
  lists_.resize(batch.size());
  for (std::size_t s = 0; s < guides_.size(); ++s) {
    WordIds& list = lists_[s];
    list.insert(list.end(), guides_[s].prefix.begin(), guides_[s].prefix.end());
    for (const TermForms& forms : guides_[s].terms)
      for (const WordIds& form : forms) list.insert(list.end(), form.begin(), form.end());
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
}

std::int32_t BeamSearch::length_limit(std::int32_t source_length) const {
  if (options_.max_words == 0) return words_by_factor(options_.max_length_factor, source_length);
  const auto beginning = static_cast<std::int32_t>(options_.beginning.size());
  return std::max(options_.max_words - beginning, 1);
}

std::int32_t BeamSearch::not_counted(std::int32_t sentence) const {
  if (options_.guided) return 0;
  return prefix_length(sentence) - static_cast<std::int32_t>(options_.beginning.size());
}

std::int32_t BeamSearch::prefix_length(std::int32_t sentence) const {
  if (guides_.empty()) return 0;
  return static_cast<std::int32_t>(guides_[static_cast<std::size_t>(sentence)].prefix.size());
}

void BeamSearch::search_by_steps() {
  for (std::size_t s = 0; s < source_lengths_.size(); ++s)
    live_.push_back({static_cast<std::int32_t>(s), -1, -1, 0, 0});
  if (!terms_.empty()) states_.assign(live_.size(), {});
  while (!live_.empty()) {
    run_step();
    expand();
    ++steps_;
  }
}

std::vector<NBest> BeamSearch::n_best(std::span<const WordIds> sentences) const {
  struct Ranked {
    bool has_terms;
    float score;
    const SearchRecord::Finished* finished;
  };
  std::vector<std::vector<Ranked>> ranked(sentences.size());
  for (const SearchRecord::Finished& finished : record_.finished)
    ranked[static_cast<std::size_t>(finished.sentence)].push_back(
        {has_all_terms(finished), final_score(finished), &finished});
  std::vector<NBest> results(sentences.size());
  for (std::size_t s = 0; s < sentences.size(); ++s) {
    std::stable_sort(ranked[s].begin(), ranked[s].end(), [](const Ranked& a, const Ranked& b) {
      return a.has_terms != b.has_terms ? a.has_terms : a.score > b.score;
    });
    if (ranked[s].size() > static_cast<std::size_t>(options_.n_best))
      ranked[s].resize(static_cast<std::size_t>(options_.n_best));
    for (const Ranked& hypothesis : ranked[s])
      results[s].push_back(trace_back(*hypothesis.finished, sentences[s].size()));
  }
  return results;
}

/// False only for hypotheses that the length limit has cut off.
bool BeamSearch::has_all_terms(const SearchRecord::Finished& finished) const {
  if (!has_terms_in(finished.sentence)) return true;
  WordIds words;
  for (std::int32_t at = finished.token; at >= 0;
       at = record_.tokens[static_cast<std::size_t>(at)].previous)
    words.push_back(record_.tokens[static_cast<std::size_t>(at)].word);
  const TermAutomaton& terms = terms_[static_cast<std::size_t>(finished.sentence)];
  TermState state;
  for (std::size_t i = words.size(); i-- > 0;) state = terms.advance(state, words[i]);
  return terms.all_met(state);
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
    words_.push_back(live.token < 0 ? -1
                                    : record_.tokens[static_cast<std::size_t>(live.token)].word);
    positions_.push_back(live.length);
  }
  worker_->step({parents_, parent_sentence_, hypothesis_parent_, words_, positions_});
}

void BeamSearch::expand() {
  next_live_.clear();
  next_states_.clear();
  alignment_begin_.assign(1, 0);
  if (options_.alignment)
    for (const Live& live : live_)
      alignment_begin_.push_back(alignment_begin_.back() +
                                 source_lengths_[static_cast<std::size_t>(live.sentence)]);
  list_begin_.assign(1, 0);
  if (!lists_.empty())
    for (const Live& live : live_)
      list_begin_.push_back(list_begin_.back() +
                            std::ssize(lists_[static_cast<std::size_t>(live.sentence)]));
  for (std::size_t begin = 0; begin < live_.size();) {
    const Live& live = live_[begin];
    std::size_t end = begin;
    while (end < live_.size() && live_[end].sentence == live.sentence) ++end;
    if (live.length < prefix_length(live.sentence)) {
      take_forced(begin, guides_[static_cast<std::size_t>(live.sentence)]
                             .prefix[static_cast<std::size_t>(live.length)]);
    } else if (options_.forced_end &&
               live.length + 1 >=
                   settings_.length_limits[static_cast<std::size_t>(live.sentence)]) {
      force_ends(begin, end);
      take_candidates(begin, end);
    } else {
      collect_candidates(begin, end, /*may_be_short=*/false);
      // Where all other words are penalized, a short hypothesis may end.
      if (options_.min_length > 0 && !has_candidate())
        collect_candidates(begin, end, /*may_be_short=*/true);
      take_candidates(begin, end);
    }
    begin = end;
  }
  std::swap(live_, next_live_);
  std::swap(states_, next_states_);
}

void BeamSearch::take_forced(std::size_t row, std::int32_t word) {
  check(word >= 0, "a word of a prefix is not in the vocabulary");
  const Live& live = live_[row];
  float score = 0;
  if (options_.guided && live.length >= std::ssize(options_.beginning)) {
    score = listed_score(listed_scores_, row, word);
    if (!std::isfinite(score)) throw Error(scores_are_not_numbers(live.length));
  }
  const auto token = static_cast<std::int32_t>(record_.tokens.size());
  record_.tokens.push_back({word, live.token, score});
  if (options_.alignment) keep_alignment(static_cast<std::int64_t>(row));
  keep_model_scores(row, word);
  next_live_.push_back({live.sentence, token, static_cast<std::int32_t>(row), live.length + 1,
                        live.path_score + score});
  if (!terms_.empty())
    next_states_.push_back(
        terms_[static_cast<std::size_t>(live.sentence)].advance(states_[row], word));
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
  const bool has_terms = has_terms_in(live_[begin].sentence);
  const bool is_short =
      !may_be_short &&
      live_[begin].length - (prefix_length(live_[begin].sentence) -
                             static_cast<std::int32_t>(options_.beginning.size())) <
          options_.min_length;
  candidates_.clear();
  for (std::size_t row = begin; row < end; ++row) {
    const bool may_end =
        !is_short &&
        (!has_terms || terms_[static_cast<std::size_t>(live_[row].sentence)].all_met(states_[row]));
    const auto row_scores = scores.row(static_cast<std::int64_t>(row));
    const auto row_words = words.row(static_cast<std::int64_t>(row));
    for (std::size_t i = 0; i < row_words.size(); ++i)
      if (row_words[i] >= 0 && !suppressed(row_words[i]) &&
          (may_end || row_words[i] != options_.end_id))
        candidates_.push_back({live_[row].path_score + row_scores[i], row_scores[i],
                               static_cast<std::int32_t>(row), row_words[i]});
    if (has_terms) add_term_candidates(row);
  }
}

bool BeamSearch::has_terms_in(std::int32_t sentence) const {
  return !terms_.empty() && !terms_[static_cast<std::size_t>(sentence)].empty();
}

/// The next words of open terms that are not among the best words.
void BeamSearch::add_term_candidates(std::size_t row) {
  const Live& live = live_[row];
  const auto is_of_row = [row](const Candidate& candidate) {
    return candidate.row == static_cast<std::int32_t>(row);
  };
  const auto first = std::ranges::find_if(candidates_, is_of_row) - candidates_.begin();
  terms_[static_cast<std::size_t>(live.sentence)].for_next_words(states_[row], [&](std::int32_t
                                                                                       word) {
    const auto own = std::span(candidates_).subspan(static_cast<std::size_t>(first));
    if (std::ranges::find(own, word, &Candidate::word) != own.end()) return;
    const float score = listed_score(listed_scores_, row, word);
    if (std::isfinite(score))
      candidates_.push_back({live.path_score + score, score, static_cast<std::int32_t>(row), word});
  });
}

/// Brings the `width` candidates that are taken to the front, the best first.
void BeamSearch::order_candidates(std::int32_t sentence, std::size_t width) {
  if (has_terms_in(sentence)) divide_beam(terms_[static_cast<std::size_t>(sentence)], width);
  std::partial_sort(candidates_.begin(), candidates_.begin() + static_cast<std::ptrdiff_t>(width),
                    candidates_.end(), [](const Candidate& a, const Candidate& b) {
                      if (a.path_score != b.path_score) return a.path_score > b.path_score;
                      return a.row != b.row ? a.row < b.row : a.word < b.word;
                    });
}

/// Keeps `width` candidates: the best of each bank, then the second best of each, and so on, those
/// with more words of terms first.
void BeamSearch::divide_beam(const TermAutomaton& terms, std::size_t width) {
  places_.clear();
  for (std::size_t i = 0; i < candidates_.size(); ++i) {
    const TermState& state = states_[static_cast<std::size_t>(candidates_[i].row)];
    places_.push_back({terms.words_met(terms.advance(state, candidates_[i].word)), 0, i});
  }
  std::ranges::sort(places_, [&](const Place& a, const Place& b) {
    if (a.bank != b.bank) return a.bank > b.bank;
    const Candidate& x = candidates_[a.candidate];
    const Candidate& y = candidates_[b.candidate];
    if (x.path_score != y.path_score) return x.path_score > y.path_score;
    return x.row != y.row ? x.row < y.row : x.word < y.word;
  });
  for (std::size_t i = 1; i < places_.size(); ++i)
    if (places_[i].bank == places_[i - 1].bank) places_[i].rank = places_[i - 1].rank + 1;
  std::ranges::stable_sort(places_, {}, &Place::rank);
  places_.resize(std::min(width, places_.size()));
  std::ranges::sort(places_, {}, &Place::candidate);
  for (std::size_t i = 0; i < places_.size(); ++i)
    candidates_[i] = candidates_[places_[i].candidate];
  candidates_.resize(places_.size());
}

void BeamSearch::take_candidates(std::size_t begin, std::size_t end) {
  const std::int32_t sentence = live_[begin].sentence;
  const std::int32_t length = live_[begin].length + 1;
  const bool first = live_[begin].length == prefix_length(sentence);
  const auto beam = static_cast<std::size_t>(options_.beam_size);
  const std::size_t wanted = keeps_beam() ? 2 * beam : first ? beam : end - begin;
  const std::size_t width = std::min(wanted, candidates_.size());
  order_candidates(sentence, width);
  if (width == 0 || !std::isfinite(candidates_[0].path_score))
    throw Error(scores_are_not_numbers(length - 1));
  const std::size_t first_open = next_live_.size();
  const std::size_t first_finished = record_.finished.size();
  const bool cut = length >= settings_.length_limits[static_cast<std::size_t>(sentence)];
  for (std::size_t i = 0; i < width; ++i) {
    const Candidate& chosen = candidates_[i];
    if (!std::isfinite(chosen.path_score)) break;
    const bool ends = chosen.word == options_.end_id || cut;
    // Of a beam that is kept, only the first ranks end.
    if (ends ? i >= beam : next_live_.size() - first_open == beam) continue;
    const auto row = static_cast<std::size_t>(chosen.row);
    const auto token = static_cast<std::int32_t>(record_.tokens.size());
    record_.tokens.push_back({chosen.word, live_[row].token, chosen.score});
    if (options_.alignment) keep_alignment(chosen.row);
    keep_model_scores(row, chosen.word);
    if (ends) {
      record_.finished.push_back({sentence, token, length, chosen.path_score});
      continue;
    }
    next_live_.push_back({sentence, token, chosen.row, length, chosen.path_score});
    if (!terms_.empty())
      next_states_.push_back(
          terms_[static_cast<std::size_t>(sentence)].advance(states_[row], chosen.word));
  }
  if (!best_finished_.empty()) drop_if_decided(sentence, first_open, first_finished);
}

void BeamSearch::drop_if_decided(std::int32_t sentence, std::size_t first_open,
                                 std::size_t first_finished) {
  BestScores& best = best_finished_[static_cast<std::size_t>(sentence)];
  for (std::size_t i = first_finished; i < record_.finished.size(); ++i)
    best.add(final_score(record_.finished[i]));
  if (!is_decided(sentence, std::span(next_live_).subspan(first_open), best)) return;
  next_live_.resize(first_open);
  if (!terms_.empty()) next_states_.resize(first_open);
}

/// Whether no open hypothesis of a sentence goes on.
bool BeamSearch::is_decided(std::int32_t sentence, std::span<const Live> open,
                            const BestScores& best) const {
  if (open.empty()) return true;
  const std::int32_t uncounted = not_counted(sentence);
  if (keeps_beam() && options_.early_stopping == EarlyStopping::first) return best.is_full();
  // As Transformers has it: the length is that of the step.
  if (keeps_beam() && options_.early_stopping == EarlyStopping::heuristic)
    return best.is_full() &&
           !best.beaten_by(final_scores_->of(open[0].path_score, open[0].length - uncounted));
  if (!options_.early_stop) return false;
  const std::int32_t most = settings_.length_limits[static_cast<std::size_t>(sentence)] - uncounted;
  return std::ranges::all_of(open, [&](const Live& hypothesis) {
    return best.beats(
        final_scores_->bound(hypothesis.path_score, hypothesis.length + 1 - uncounted, most));
  });
}

void BeamSearch::keep_alignment(std::int64_t row) {
  const OutputRows<float> weights = worker_->floats(alignment_output_);
  token_alignment_.push_back(static_cast<std::int64_t>(alignments_.size()));
  alignments_.insert(alignments_.end(),
                     weights.data + alignment_begin_[static_cast<std::size_t>(row)],
                     weights.data + alignment_begin_[static_cast<std::size_t>(row) + 1]);
}

void BeamSearch::keep_model_scores(std::size_t row, std::int32_t word) {
  const Live& live = live_[row];
  const bool counts = live.length >= (options_.guided ? std::ssize(options_.beginning)
                                                      : prefix_length(live.sentence));
  for (std::size_t i = 0; i < model_outputs_.size(); ++i) {
    const float before =
        live.token < 0
            ? 0
            : model_scores_[static_cast<std::size_t>(live.token) * model_outputs_.size() + i];
    model_scores_.push_back(counts ? before + model_score(i, row, word) : before);
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

/// A coverage is not above 0, so final_scores_->bound() is a bound with it too.
float BeamSearch::final_score(const SearchRecord::Finished& finished) const {
  const float score =
      final_scores_->of(finished.path_score, finished.length - not_counted(finished.sentence));
  return options_.coverage_penalty > 0 ? score + options_.coverage_penalty * coverage(finished)
                                       : score;
}

float BeamSearch::coverage(const SearchRecord::Finished& finished) const {
  covered_.assign(
      static_cast<std::size_t>(source_lengths_[static_cast<std::size_t>(finished.sentence)]), 0);
  for (std::int32_t at = finished.token; at >= 0;
       at = record_.tokens[static_cast<std::size_t>(at)].previous) {
    const auto begin = static_cast<std::size_t>(token_alignment_[static_cast<std::size_t>(at)]);
    for (std::size_t i = 0; i < covered_.size(); ++i) covered_[i] += alignments_[begin + i];
  }
  float sum = 0;
  for (const float weight : covered_) sum += std::log(std::clamp(weight, kLeastCoverage, 1.0f));
  return sum;
}

Hypothesis BeamSearch::trace_back(const SearchRecord::Finished& finished,
                                  std::size_t source_length) const {
  Hypothesis result;
  result.log_probability = finished.path_score;
  result.score = final_score(finished);
  const auto last =
      model_scores_.begin() +
      static_cast<std::ptrdiff_t>(static_cast<std::size_t>(finished.token) * options_.models);
  result.model_scores.assign(last, last + static_cast<std::ptrdiff_t>(options_.models));
  for (std::int32_t at = finished.token; at >= 0;) {
    const auto i = static_cast<std::size_t>(at);
    const SearchRecord::Token& token = record_.tokens[i];
    result.words.push_back(token.word);
    result.word_scores.push_back(token.score);
    if (options_.alignment) {
      const auto begin = alignments_.begin() + token_alignment_[i];
      result.alignment.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(source_length));
    }
    at = token.previous;
  }
  const auto finish = [&](auto& list) {
    std::reverse(list.begin(), list.end());
    if (!list.empty()) list.erase(list.begin(), list.begin() + std::ssize(options_.beginning));
  };
  finish(result.words);
  finish(result.word_scores);
  finish(result.alignment);
  return result;
}

}  // namespace fuselage
