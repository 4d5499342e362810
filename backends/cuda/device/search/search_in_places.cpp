#include "backends/cuda/device/search/search_in_places.h"

#include <algorithm>
#include <utility>

#include "backends/cuda/device/runtime/device.h"
#include "fuselage/base/error.h"

namespace fuselage::cuda {

SearchInPlaces::SearchInPlaces(const RowFrame& frame, const PlaceLimits& limits,
                               const SearchSettings& settings, int device, const Stream& stream,
                               Step step)
    : frame_(frame),
      settings_(settings),
      device_(device),
      stream_(stream),
      run_step_(std::move(step)),
      search_(frame.graph()),
      tables_(frame.graph(), limits),
      places_(static_cast<std::size_t>(limits.sentences)) {
  search_.reserve({.sentences = limits.sentences,
                   .beam_size = settings.beam_size,
                   .suppressed = static_cast<std::int32_t>(settings.suppressed.size()),
                   .words = limits.words});
  limits_ = changes_.add(limits.sentences);
  changes_.allocate();
  for (std::int64_t i = 0; i < kStepsAhead; ++i)
    results_.emplace_back(limits.sentences, settings.beam_size);
  tables_.upload(frame_, stream_);
  search_.open(stream_.get(), settings_, limits.sentences, tables_.pages());
}

void SearchInPlaces::begin(std::span<const std::int32_t> places,
                           std::span<const std::int32_t> length_limits) {
  use_device(device_);
  for (std::size_t i = 0; i < places.size(); ++i) {
    tables_.take_words(places[i], std::int64_t{settings_.beam_size} * length_limits[i]);
    Place& place = at(places[i]);
    place.runs = true;
    place.first_step = steps_;
    place.words = 0;
    place.record.tokens.clear();
    place.record.finished.clear();
    running_.push_back(places[i]);
  }
  tables_.upload(frame_, stream_);
  change(places, length_limits);
}

void SearchInPlaces::change(std::span<const std::int32_t> places,
                            std::span<const std::int32_t> length_limits) {
  new_limits_.assign(places_.size(), 0);
  for (std::size_t i = 0; i < places.size(); ++i)
    new_limits_[static_cast<std::size_t>(places[i])] = length_limits[i];
  changes_.begin();
  changes_.fill(limits_, new_limits_);
  changes_.copy(stream_);
  search_.change(stream_.get(), changes_.device(limits_));
}

/// The rows of a sentence never grow after its first step.
std::int32_t SearchInPlaces::bound(const Place& place) const {
  if (place.first_step == steps_) return 1;
  return place.words > 0 ? place.rows : settings_.beam_size;
}

std::span<const std::int32_t> SearchInPlaces::step() {
  use_device(device_);
  ended_.clear();
  std::int32_t hypotheses = 0;
  for (const std::int32_t place : running_) hypotheses += bound(at(place));
  check(hypotheses > 0, "a step without searches");
  run_step_(hypotheses);
  const auto slot = static_cast<std::size_t>(steps_ % kStepsAhead);
  search_.enqueue_results(stream_.get(), results_[slot]);
  done_[slot].record(stream_);
  ++steps_;
  if (steps_ >= kStepsAhead) read_step(steps_ - kStepsAhead);
  return ended_;
}

void SearchInPlaces::read_step(std::int64_t number) {
  const auto slot = static_cast<std::size_t>(number % kStepsAhead);
  done_[slot].wait();
  search_.expect_no_error(results_[slot].status());
  for (const std::int32_t place : running_)
    if (at(place).first_step <= number) read_words(place, results_[slot]);
  std::erase_if(running_, [&](std::int32_t place) { return !at(place).runs; });
}

void SearchInPlaces::read_words(std::int32_t number, const DeviceSearch::StepResults& results) {
  Place& place = at(number);
  ++place.words;
  place.rows = results.survivors(number);
  for (const StepToken& token : results.tokens(number)) {
    if (token.ends)
      place.record.finished.push_back({number,
                                       static_cast<std::int32_t>(place.record.tokens.size()),
                                       place.words, token.path_score});
    place.record.tokens.push_back({token.word, token.previous, token.score});
  }
  if (place.rows > 0) return;
  place.runs = false;
  ended_.push_back(number);
}

const SearchRecord& SearchInPlaces::record(std::int32_t place) const {
  return places_[static_cast<std::size_t>(place)].record;
}

void SearchInPlaces::drop(std::int32_t place) {
  if (!at(place).runs) return;
  use_device(device_);
  at(place).runs = false;
  std::erase(running_, place);
  constexpr std::int32_t kEnds = -1;
  change({&place, 1}, {&kEnds, 1});
}

}  // namespace fuselage::cuda
