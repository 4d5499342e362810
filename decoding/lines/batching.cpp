#include "decoding/lines/batching.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace fuselage {
namespace {

constexpr std::size_t kNoBound = std::numeric_limits<std::size_t>::max();
/// Default number of batches in a window. Larger windows do not sort better.
constexpr std::size_t kWindowBatches = 64;
/// Batches per worker that may at least wait, so that a slow worker does not stop the others.
constexpr std::size_t kBatchesAhead = 8;

BatchOptions with_defaults_of_marian(BatchOptions options) {
  options.mini_batch = options.mini_batch.value_or(1);
  options.maxi_batch = options.maxi_batch.value_or(1);
  options.maxi_batch_sort = options.maxi_batch_sort.value_or(MaxiBatchSort::none);
  return options;
}

/// The size of the largest of as few parts as `most` allows, when `total` is divided evenly.
std::size_t even_part(std::size_t total, std::size_t most) {
  const std::size_t parts = (total - 1) / most + 1;
  return (total - 1) / parts + 1;
}

bool counts_words(const BatchOptions& options) { return options.mini_batch_words.value_or(0) > 0; }

}  // namespace

BatchBounds batch_bounds(const BatchOptions& given, const BatchBounds& fastest, bool by_content) {
  const BatchOptions options = by_content ? with_defaults_of_marian(given) : given;
  if (!counts_words(options) && !options.mini_batch) return fastest;
  const bool firm = fastest.firm && !by_content;
  BatchBounds bounds = firm ? fastest : BatchBounds{.sentences = kNoBound, .words = kNoBound};
  bounds.grows_to = 0;
  if (counts_words(options))
    bounds.words = std::min(bounds.words, *options.mini_batch_words);
  else
    bounds.sentences = std::min(bounds.sentences, *options.mini_batch);
  return bounds;
}

Workload expected_workload(std::size_t beam_size, const BatchBounds& batches) {
  Workload workload{.beam = static_cast<double>(beam_size)};
  workload.batch =
      std::max(1.0, std::min(static_cast<double>(batches.sentences),
                             static_cast<double>(batches.words) / workload.source_length));
  return workload;
}

BatchFormer::BatchFormer(const BatchOptions& given, const BatchBounds& fastest, std::size_t workers,
                         bool by_content, std::shared_ptr<BatchTuner> tuner)
    : bounds_(batch_bounds(given, fastest, by_content)),
      by_content_(by_content),
      workers_(std::max<std::size_t>(1, workers)) {
  const BatchOptions options = by_content ? with_defaults_of_marian(given) : given;
  if (!by_content)
    tuner_ = tuner ? std::move(tuner) : std::make_shared<BatchTuner>(bounds_, workers_);
  sort_by_length_ = options.maxi_batch_sort.value_or(MaxiBatchSort::src) == MaxiBatchSort::src;
  smaller_for_few_ = !options.mini_batch && !counts_words(options);
  const std::size_t sentences = options.mini_batch.value_or(fastest.sentences);
  window_lines_ = sentences * options.maxi_batch.value_or(kWindowBatches);
  max_lines_ahead_ = std::max(2 * window_lines_, kBatchesAhead * workers_ * sentences);
}

void BatchFormer::add(std::size_t number, std::size_t length, Time now) {
  if (open_.empty()) first_came_ = now;
  paused_ = false;
  open_.push_back({number, length});
  waiting_words_ += length;
  open_words_ += length;
  if (open_.size() >= window_lines_ || 2 * open_words_ >= kMaxWordsAhead) close_window();
}

std::vector<std::size_t> BatchFormer::take(Time now) {
  if (closed_.empty() && !open_.empty())
    if (const std::optional<Time> when = due(); when && *when <= now) close_window();
  if (closed_.empty()) return {};
  Window& window = closed_.front();
  std::vector<std::size_t> batch;
  for (std::size_t left = next_batch_size(); left > 0; --left) {
    batch.push_back(window.front().number);
    waiting_words_ -= window.front().length;
    window.pop_front();
  }
  if (window.empty()) closed_.pop_front();
  return batch;
}

std::optional<BatchFormer::Time> BatchFormer::due() const {
  if (open_.empty() && closed_.empty()) return std::nullopt;
  if (!closed_.empty() || ended_) return Time::min();
  if (by_content_) return std::nullopt;
  return paused_ ? Time::min() : first_came_ + kMaxWait;
}

void BatchFormer::close_window() {
  if (sort_by_length_)
    std::stable_sort(open_.begin(), open_.end(),
                     [](const Line& a, const Line& b) { return a.length > b.length; });
  closed_.push_back(std::exchange(open_, {}));
  open_words_ = 0;
}

std::size_t BatchFormer::next_batch_size() {
  // Rounded up, so that lines of equal length make no more batches than there are workers.
  const std::size_t share =
      smaller_for_few_ ? (waiting_words_ + workers_ - 1) / workers_ : kNoBound;
  const Window& window = closed_.front();
  if (tuner_) bounds_ = tuner_->next(window.size());
  const std::size_t sentences =
      by_content_ ? bounds_.sentences : even_part(window.size(), bounds_.sentences);
  std::size_t count = 0, words = 0, longest = 0;
  for (const Line& line : window) {
    words += line.length;
    longest = std::max(longest, line.length);
    const bool fits = count < sentences && longest * (count + 1) <= bounds_.words;
    if (count > 0 && (!fits || words > share)) break;
    ++count;
  }
  return count;
}

}  // namespace fuselage
