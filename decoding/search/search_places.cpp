// BeamSearch: sentences that come and go.

#include <algorithm>
#include <utility>

#include "decoding/search/final_scores.h"
#include "decoding/search/sentence_search.h"
#include "fuselage/backends/place_limits.h"
#include "fuselage/base/error.h"
#include "fuselage/decoding/beam_search.h"

namespace fuselage {

void BeamSearch::open(std::int32_t sentences, std::int64_t source_words,
                      std::optional<std::size_t> prefix) {
  const std::int64_t average = (source_words + sentences - 1) / sentences;
  const std::size_t beginning = options_.beginning.size();
  const PlaceLimits limits{
      .sentences = sentences,
      .hypotheses = options_.beam_size,
      .source_rows = sentences * PlaceLimits::rows_for(average),
      .words =
          std::max(sentences * words_for(average, beginning, options_.beam_size),
                   words_for(source_words, prefix.value_or(0) + beginning, options_.beam_size))};
  const bool is_same = store_ == limits;
  store_.reset();
  if (!is_same) {
    worker_->open(limits);
  } else {
    for (std::size_t place = 0; place < sentences_.size(); ++place)
      if (sentences_[place].in_store) worker_->release(static_cast<std::int32_t>(place));
  }
  const bool by_steps = prefix.has_value() || needs_steps() || !options_.beginning.empty();
  place_search_ = by_steps ? nullptr : worker_->search_places(settings_);
  store_ = limits;
  sentences_.clear();
  free_places_.clear();
  sentences_.resize(static_cast<std::size_t>(sentences));
  for (std::int32_t place = sentences; place-- > 0;) free_places_.push_back(place);
  free_source_rows_ = limits.source_rows;
  free_words_ = limits.words;
  lists_.assign(sentences_.size(), {});
  reserve_steps(sentences_.size());
}

std::optional<std::int32_t> BeamSearch::reserve(std::int64_t source_words,
                                                const SearchGuide& guide) {
  if (place_search_ && !guide.empty()) return std::nullopt;
  const std::int64_t rows = PlaceLimits::rows_for(source_words);
  const std::int64_t words =
      words_for(source_words, guide.prefix.size() + options_.beginning.size(), beam_of(guide));
  if (free_places_.empty() || rows > free_source_rows_ || words > free_words_) return std::nullopt;
  const std::int32_t place = free_places_.back();
  free_places_.pop_back();
  free_source_rows_ -= rows;
  free_words_ -= words;
  SentenceSearch& sentence = sentences_[static_cast<std::size_t>(place)];
  sentence.store_rows = rows;
  sentence.store_words = words;
  return place;
}

void BeamSearch::admit(const Batch& batch, std::span<const SearchGuide> guides,
                       std::span<const std::int32_t> places) {
  check(places.size() == batch.size(), "every sentence has a place");
  check(guides.empty() || guides.size() == batch.size(), "not every sentence has a guide");
  const SearchGuide none;
  for (std::size_t s = 0; s < places.size(); ++s) {
    SentenceSearch& sentence = sentences_[static_cast<std::size_t>(places[s])];
    sentence.in_store = true;
    begin_sentence(sentence, static_cast<std::int32_t>(batch.sentences[s].size()),
                   guides.empty() ? none : guides[s]);
  }
  with_shortlists_ = !batch.shortlists.empty();
  std::vector<WordIds> lists;
  if (has_lists())
    for (std::size_t s = 0; s < places.size(); ++s)
      lists.push_back(listed_words(sentences_[static_cast<std::size_t>(places[s])],
                                   with_shortlists_ ? batch.shortlists[s] : WordIds()));
  Batch listing = batch;
  listing.shortlists = lists;
  worker_->admit(listing, places);
  for (std::size_t s = 0; s < lists.size(); ++s)
    lists_[static_cast<std::size_t>(places[s])] = std::move(lists[s]);
  if (place_search_) {
    begin_in_places(places);
    return;
  }
  for (const std::int32_t place : places) {
    reserve_record(sentences_[static_cast<std::size_t>(place)]);
    begin_search(place);
  }
}

/// Has the worker begin searches.
void BeamSearch::begin_in_places(std::span<const std::int32_t> places) {
  settings_.length_limits.clear();
  for (const std::int32_t place : places) {
    const SentenceSearch& sentence = sentences_[static_cast<std::size_t>(place)];
    check(sentence.guide.empty(), "a guide in a store that was opened without");
    settings_.length_limits.push_back(sentence.word_limit);
  }
  place_search_->begin(places, settings_.length_limits);
}

std::size_t BeamSearch::taken() const { return sentences_.size() - free_places_.size(); }

std::span<const std::int32_t> BeamSearch::step() {
  try {
    if (place_search_) return place_search_->step();
    run_step();
    expand();
    return ended_;
  } catch (...) {
    store_.reset();
    throw;
  }
}

NBest BeamSearch::take(std::int32_t place) {
  SentenceSearch& sentence = sentences_[static_cast<std::size_t>(place)];
  if (place_search_) sentence.record = place_search_->record(place);
  NBest result = n_best(sentence, sentence.record.tokens);
  free_place(place);
  return result;
}

void BeamSearch::drop(std::int32_t place) {
  std::size_t kept = 0;
  for (std::size_t row = 0; row < live_.size(); ++row) {
    if (live_[row].sentence == place) continue;
    live_[kept] = live_[row];
    states_[kept++] = states_[row];
  }
  if (place_search_) place_search_->drop(place);
  live_.resize(kept);
  states_.resize(kept);
  free_place(place);
}

void BeamSearch::free_place(std::int32_t place) {
  SentenceSearch& sentence = sentences_[static_cast<std::size_t>(place)];
  if (sentence.in_store) worker_->release(place);
  sentence.in_store = false;
  free_source_rows_ += sentence.store_rows;
  free_words_ += sentence.store_words;
  free_places_.push_back(place);
}

}  // namespace fuselage
