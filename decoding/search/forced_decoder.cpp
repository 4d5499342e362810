#include "decoding/search/forced_decoder.h"

#include <algorithm>
#include <cmath>

#include "fuselage/backends/search.h"
#include "fuselage/base/error.h"

namespace fuselage {

ForcedDecoder::ForcedDecoder(const Executable& executable, bool alignment, std::size_t device)
    : alignment_(alignment),
      worker_(executable.make_worker(device)),
      log_probs_(executable.output(kLogProbs)) {
  if (alignment_) alignment_output_ = executable.output(kAlignment);
}

std::vector<ForcedScores> ForcedDecoder::score(const Batch& sources,
                                               std::span<const WordIds> targets) {
  StepLimits limits;
  std::size_t steps = 0;
  for (const WordIds& target : targets) {
    limits.hypotheses.push_back(1);
    limits.steps.push_back(static_cast<std::int32_t>(target.size()));
    steps = std::max(steps, target.size());
  }
  worker_->begin(sources, limits);
  std::vector<ForcedScores> results(targets.size());
  row_.assign(targets.size(), -1);
  for (std::size_t t = 0; t < steps; ++t) {
    run_step(targets, t);
    read_step(sources.sentences, targets, t, results);
  }
  return results;
}

void ForcedDecoder::run_step(std::span<const WordIds> targets, std::size_t t) {
  for (auto* list : {&live_, &parents_, &parent_, &words_, &positions_}) list->clear();
  for (std::size_t s = 0; s < targets.size(); ++s) {
    if (t >= targets[s].size()) continue;
    parents_.push_back(row_[s]);
    row_[s] = static_cast<std::int32_t>(live_.size());
    parent_.push_back(row_[s]);
    live_.push_back(static_cast<std::int32_t>(s));
    words_.push_back(t == 0 ? -1 : targets[s][t - 1]);
    positions_.push_back(static_cast<std::int32_t>(t));
  }
  worker_->step({parents_, live_, parent_, words_, positions_});
}

void ForcedDecoder::read_step(std::span<const WordIds> sources, std::span<const WordIds> targets,
                              std::size_t t, std::vector<ForcedScores>& results) const {
  const OutputRows<float> log_probs = worker_->floats(log_probs_);
  const float* weights = alignment_ ? worker_->floats(alignment_output_).data : nullptr;
  for (std::size_t row = 0; row < live_.size(); ++row) {
    const auto s = static_cast<std::size_t>(live_[row]);
    const float score =
        log_probs.row(static_cast<std::int64_t>(row))[static_cast<std::size_t>(targets[s][t])];
    if (std::isnan(score)) throw Error(scores_are_not_numbers(static_cast<std::int32_t>(t)));
    results[s].word_scores.push_back(score);
    if (!weights) continue;
    results[s].alignment.emplace_back(weights, weights + sources[s].size());
    weights += sources[s].size();
  }
}

}  // namespace fuselage
