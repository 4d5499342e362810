// Top-up batching, refilled in three ways, against batches of sorted lines and of lines in their
// order: all in one process, in turn, by the wall clock, without loading. Batches are bounded in
// words, since others are topped up: they have as many words as sentences of average length in all
// places; with one place, one sentence. A line's latency is the time from its arrival, when it is
// read, to its translation.
//
//   queue_bench MODEL TEXT [beam] [places] [rounds] [precision] [lines] [threads] [factor]
//
// With random weights, whose translations do not end, `factor` is their length in words for each
// source word.

#include <fmt/format.h>

#include <algorithm>
#include <mutex>
#include <vector>

#include "backends/cpu/runtime/isa.h"
#include "base/files/file.h"
#include "bench/measure.h"
#include "bench/program.h"
#include "fuselage/base/error.h"
#include "fuselage/decoding/translation_queue.h"
#include "fuselage/decoding/translator.h"
#include "fuselage/models/load_model.h"
#include "text/lines.h"

namespace fuselage {
namespace {

/// One run over all lines.
struct Outcome {
  double seconds = 0;
  std::size_t words = 0;
  std::vector<double> latencies;
  double occupancy = 0;  ///< sentences in a step over places; 0: not known
};

Outcome by_batches(const Translator& translator, const std::vector<std::string>& lines) {
  Outcome outcome;
  std::vector<double> arrived;
  const double start = now();
  const auto source = [&](std::string& line, LineGuide&) {
    if (arrived.size() == lines.size()) return false;
    line = lines[arrived.size()];
    arrived.push_back(now());
    return true;
  };
  std::mutex mutex;
  translator.translate(source, [&](std::size_t line, Translation&& translation) {
    const std::lock_guard lock(mutex);
    outcome.words += translation.source_words;
    outcome.latencies.push_back(now() - arrived[line]);
  });
  outcome.seconds = now() - start;
  return outcome;
}

Outcome by_queue(const Translator& translator, const std::vector<std::string>& lines,
                 std::size_t places, std::size_t threads, Refill refill) {
  Outcome outcome;
  std::mutex mutex;
  TranslationQueue queue(translator,
                         {.places = places, .max_waiting = 2 * places * threads, .refill = refill});
  const double start = now();
  for (const std::string& line : lines) {
    const double arrived = now();
    queue.submit(line, [&, arrived](Translation&& translation, const std::exception_ptr&) {
      const std::lock_guard lock(mutex);
      outcome.words += translation.source_words;
      outcome.latencies.push_back(now() - arrived);
    });
  }
  queue.drain();
  outcome.seconds = now() - start;
  const QueueFigures figures = queue.figures();
  outcome.occupancy = static_cast<double>(figures.sentence_steps) /
                      static_cast<double>(figures.steps) / static_cast<double>(places);
  return outcome;
}

void print(const char* name, std::vector<Outcome> outcomes, double baseline) {
  std::ranges::sort(outcomes, {}, &Outcome::seconds);
  const Outcome& middle = outcomes[outcomes.size() / 2];
  fmt::print("{:<16} {:8.0f} words/s  {:5.3f}  latency {:7.1f} ms, 99 % {:7.1f} ms", name,
             static_cast<double>(middle.words) / middle.seconds, baseline / middle.seconds,
             1e3 * quantile(middle.latencies, 0.5), 1e3 * quantile(middle.latencies, 0.99));
  if (middle.occupancy > 0) fmt::print("  occupancy {:.3f}", middle.occupancy);
  fmt::print("\n");
}

double median_seconds(std::vector<Outcome> outcomes) {
  std::ranges::sort(outcomes, {}, &Outcome::seconds);
  return outcomes[outcomes.size() / 2].seconds;
}

void run(const std::vector<std::string>& arguments) {
  const auto argument = [&](std::size_t i, const char* otherwise) {
    return i < arguments.size() ? arguments[i] : std::string(otherwise);
  };
  const auto number = [&](std::size_t i, const char* otherwise) {
    return static_cast<std::size_t>(std::stoul(argument(i, otherwise)));
  };
  const Model model = load_model(arguments[0]);
  std::vector<std::string> lines;
  for_each_line(read_file(arguments[1]),
                [&](std::string_view line, std::size_t) { lines.emplace_back(line); });
  lines.resize(std::min(lines.size(), number(6, "1000")));
  const std::size_t places = number(3, "16");
  TranslatorOptions options;
  options.beam_size = std::stoi(argument(2, "6"));
  options.threads = number(7, "1");
  if (arguments.size() > 8) options.max_length_factor = std::stof(arguments[8]);
  std::size_t words = 0;
  {
    const Translator counting(model, options);
    for (const std::string& line : lines) words += counting.count_tokens(line);
  }
  const std::size_t batch = places * words / lines.size();
  options.batches = {
      .mini_batch_words = batch, .maxi_batch = 100, .maxi_batch_sort = MaxiBatchSort::src};
  if (places == 1) options.batches.mini_batch = 1;
  options.compile.precision = precision_from_string(argument(5, "int8"));
  const Translator sorted(model, options);
  options.batches.maxi_batch = 1;
  options.batches.maxi_batch_sort = MaxiBatchSort::none;
  const Translator in_order(model, options);
  constexpr std::pair<const char*, Refill> kRefills[] = {{"at once", Refill::at_once},
                                                         {"half empty", Refill::half_empty},
                                                         {"by cost", Refill::by_cost}};
  std::vector<std::string> longest_first = lines;
  std::ranges::stable_sort(longest_first, std::greater(),
                           [&](const std::string& line) { return in_order.count_tokens(line); });
  std::vector<Outcome> a, b, by_length, queued[std::size(kRefills)];
  for (std::size_t round = 0; round < number(4, "5"); ++round) {
    a.push_back(by_batches(sorted, lines));
    b.push_back(by_batches(in_order, lines));
    by_length.push_back(
        by_queue(in_order, longest_first, places, options.threads, Refill::by_cost));
    for (std::size_t i = 0; i < std::size(kRefills); ++i)
      queued[i].push_back(by_queue(in_order, lines, places, options.threads, kRefills[i].second));
  }
  fmt::print("isa {}, {}, beam {}, {} places, {} threads, {} lines, {} words\n", cpu::active_isa(),
             to_string(*options.compile.precision), *options.beam_size, places, options.threads,
             lines.size(), a[0].words);
  const double baseline = median_seconds(a);
  print("sorted batches", a, baseline);
  print("batches in order", b, baseline);
  for (std::size_t i = 0; i < std::size(kRefills); ++i)
    print(kRefills[i].first, queued[i], baseline);
  print("by cost, sorted", by_length, baseline);
}

}  // namespace
}  // namespace fuselage

int main(int argc, char** argv) {
  return fuselage::run_program(
      {"queue_bench", "MODEL TEXT [beam] [places] [rounds] [precision] [lines] [threads] [factor]",
       2, "Top-up batching against batches."},
      argc, argv, fuselage::run);
}
