#include "bench/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "bench/measure.h"
#include "fuselage/decoding/search_head.h"
#include "fuselage/ops/structure/leaf.h"

namespace fuselage {

CompileOptions numbers_from_string(const std::string& text) {
  constexpr std::string_view kKvCache = "kv-";
  std::size_t colon = std::min(text.find(':'), text.size());
  CompileOptions options{.precision = precision_from_string(text.substr(0, colon))};
  while (colon < text.size()) {
    const std::size_t begin = colon + 1;
    colon = std::min(text.find(':', begin), text.size());
    const std::string_view numbers = std::string_view(text).substr(begin, colon - begin);
    if (numbers.starts_with(kKvCache))
      options.kv_cache = kv_cache_from_string(numbers.substr(kKvCache.size()));
    else
      options.activations = activations_from_string(numbers);
  }
  return options;
}

Trace record_search(const Model& model, const SearchTask& task) {
  Trace trace;
  const std::int32_t k = BeamSearch::candidates_per_row(task.search);
  const auto executable = recording(
      compile(with_search_head(model.graph, SearchHead::k_best, {.k = k}), model.weights), trace);
  BeamSearch search(*executable, task.search);
  for (const auto& batch : task.batches) search.search(batch);
  return trace;
}

Replay::Replay(std::string name, std::unique_ptr<Executable> executable)
    : name_(std::move(name)),
      executable_(std::move(executable)),
      worker_(executable_->make_worker()),
      scores_(executable_->output(kBestScores)),
      words_(executable_->output(kBestWords)) {}

Seconds Replay::run(const Trace& trace, Outputs* outputs) {
  Seconds seconds;
  for (const Trace::Batch& batch : trace.batches) {
    const double begin = thread_seconds();
    worker_->begin(batch.sentences, batch.limits);
    const double middle = thread_seconds();
    for (const Trace::Step& step : batch.steps) {
      worker_->step(step.input());
      if (outputs) keep(*outputs);
    }
    seconds.source += middle - begin;
    seconds.step += thread_seconds() - middle;
  }
  return seconds;
}

void Replay::keep(Outputs& outputs) const {
  const OutputRows<float> scores = worker_->floats(scores_);
  const OutputRows<std::int32_t> words = worker_->integers(words_);
  outputs.scores.insert(outputs.scores.end(), scores.data, scores.data + scores.rows * scores.cols);
  outputs.words.insert(outputs.words.end(), words.data, words.data + words.rows * words.cols);
}

Rounds measure(std::vector<Replay>& contestants, const Trace& trace, int rounds) {
  Rounds measured(contestants.size());
  for (int round = 0; round < rounds; ++round) {
    std::vector<Seconds> sums(contestants.size());
    const auto run = [&](std::size_t i) {
      const Seconds seconds = contestants[i].run(trace);
      sums[i].source += seconds.source / 2;
      sums[i].step += seconds.step / 2;
    };
    for (std::size_t i = 0; i < contestants.size(); ++i) run(i);
    for (std::size_t i = contestants.size(); i-- > 0;) run(i);
    for (std::size_t i = 0; i < contestants.size(); ++i) measured[i].push_back(sums[i]);
  }
  return measured;
}

double median_of(const std::vector<Seconds>& rounds, Part part) {
  std::vector<double> seconds;
  for (const Seconds& round : rounds) seconds.push_back(part(round));
  return median(std::move(seconds));
}

std::string show_ratio(const std::vector<Seconds>& below, const std::vector<Seconds>& above,
                       Part part) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < below.size(); ++i) ratios.push_back(part(below[i]) / part(above[i]));
  const auto [low, high] = median_bounds(ratios);
  return fmt::format("{:.3f} [{:.3f}, {:.3f}]", median(ratios), low, high);
}

}  // namespace fuselage
