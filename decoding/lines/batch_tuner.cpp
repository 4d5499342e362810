#include "decoding/lines/batch_tuner.h"

#include <algorithm>
#include <utility>

namespace fuselage {
namespace {

// Shares of the bounds from which a batch counts as one of these bounds, and as a trial.
constexpr double kFull = 0.75;
constexpr double kTrial = 1.5;

BatchBounds doubled(BatchBounds bounds) {
  bounds.sentences *= 2;
  bounds.words *= 2;
  return bounds;
}

}  // namespace

BatchTuner::BatchTuner(const BatchBounds& bounds, std::size_t workers)
    : warm_up_(kWarmUp * workers), bounds_(bounds) {}

BatchBounds BatchTuner::bounds() const {
  const std::lock_guard lock(mutex_);
  return bounds_;
}

BatchBounds BatchTuner::next(std::size_t lines) {
  const std::lock_guard lock(mutex_);
  if (2 * bounds_.sentences > bounds_.grows_to) return bounds_;
  if (std::exchange(lines_, lines) < lines) {  // another window
    before_.reset();
    trials_.clear();
  }
  if (lines < kTrialsWaiting * 2 * bounds_.sentences) return bounds_;
  tries_next_ = !tries_next_;
  return tries_next_ ? bounds_ : doubled(bounds_);
}

// The size over the present bounds.

double BatchTuner::filled_sentences(const Size& size) const {
  return static_cast<double>(size.sentences) / static_cast<double>(bounds_.sentences);
}

double BatchTuner::filled_words(const Size& size) const {
  return static_cast<double>(size.padded_words()) / static_cast<double>(bounds_.words);
}

double BatchTuner::filled(const Size& size) const {
  return std::max(filled_sentences(size), filled_words(size));
}

void BatchTuner::ran(const Size& size, std::size_t words, double seconds) {
  const std::lock_guard lock(mutex_);
  if (2 * bounds_.sentences > bounds_.grows_to || seconds <= 0) return;
  const double rate = static_cast<double>(words) / seconds;
  const double share = filled(size);
  if (share > kTrial)
    trials_.push_back(rate);
  else if (share > kFull && share <= 1)
    compare(rate);
}

/// Compares trials with the batch before them and the batch after them, whose rate is `rate`.
void BatchTuner::compare(double rate) {
  if (before_)
    for (const double trial : trials_) gains_.push_back(trial / ((*before_ + rate) / 2));
  trials_.clear();
  before_ = rate;
  if (gains_.size() >= warm_up_ + kTrials) decide();
}

void BatchTuner::decide() {
  const auto first = gains_.begin() + static_cast<std::ptrdiff_t>(warm_up_);
  const auto middle = first + (gains_.end() - first) / 2;
  std::nth_element(first, middle, gains_.end());
  if (*middle >= kGain)
    bounds_ = doubled(bounds_);
  else
    bounds_.grows_to = 0;
  restart();
}

void BatchTuner::restart() {
  before_.reset();
  trials_.clear();
  gains_.clear();
}

void BatchTuner::out_of_memory(const Size& size) {
  const std::lock_guard lock(mutex_);
  bounds_.grows_to = 0;
  restart();
  if (filled(size) > 1) return;  // a trial
  is_lowered_ = true;
  // The bound that the batch is nearer to.
  if (filled_sentences(size) >= filled_words(size))
    bounds_.sentences = std::max<std::size_t>(1, size.sentences / 2);
  else
    bounds_.words = std::max<std::size_t>(1, size.padded_words() / 2);
}

std::vector<std::string> BatchTuner::take_notes() {
  const std::lock_guard lock(mutex_);
  if (!std::exchange(is_lowered_, false)) return {};
  return {"memory was short for some batches, which ran in parts; later ones are smaller"};
}

}  // namespace fuselage
