// The speed-up of a single sentence by several threads: each sentence alone, alternately with one
// thread and with several, by the wall clock.
//
//   latency_bench MODEL TEXT [beam] [threads] [precision] [sentences]

#include <fmt/format.h>

#include <algorithm>

#include "backends/cpu/runtime/isa.h"
#include "bench/measure.h"
#include "bench/program.h"
#include "bench/search_task.h"
#include "fuselage/backends/compile.h"
#include "fuselage/base/error.h"
#include "fuselage/decoding/search_head.h"
#include "fuselage/models/load_model.h"

namespace fuselage {
namespace {

/// A search with a number of threads, and its time for each sentence.
class Contestant {
 public:
  Contestant(const Model& model, const SearchTask& task, const CompileOptions& options)
      : executable_(compile(with_search_head(model.graph, SearchHead::k_best,
                                             {.k = BeamSearch::candidates_per_row(task.search)}),
                            model.weights, options)),
        search_(*executable_, task.search) {}

  /// Seconds of the better of two runs.
  double translate(const std::vector<WordIds>& sentence) {
    double best = 1e9;
    for (int i = 0; i < 2; ++i) {
      const double begin = now();
      search_.search(sentence);
      best = std::min(best, now() - begin);
    }
    return best;
  }

 private:
  std::unique_ptr<Executable> executable_;
  BeamSearch search_;
};

double milliseconds(std::vector<double> seconds, double share) {
  std::sort(seconds.begin(), seconds.end());
  return 1e3 * seconds[static_cast<std::size_t>(share * static_cast<double>(seconds.size() - 1))];
}

void run(const std::vector<std::string>& arguments) {
  const auto argument = [&](std::size_t i, const char* otherwise) {
    return i < arguments.size() ? arguments[i] : std::string(otherwise);
  };
  const Model model = load_model(arguments[0]);
  const auto sentences = static_cast<std::size_t>(std::stoi(argument(5, "100")));
  const SearchTask task =
      read_search_task(model, arguments[1], std::stoi(argument(2, "6")), 1, sentences);
  CompileOptions options{.precision = precision_from_string(argument(4, "fp32"))};
  Contestant one(model, task, options);
  options.threads_per_sentence = static_cast<std::size_t>(std::stoi(argument(3, "2")));
  Contestant several(model, task, options);

  std::vector<double> seconds[2], ratios;
  for (const auto& sentence : task.batches) {
    seconds[0].push_back(one.translate(sentence));
    seconds[1].push_back(several.translate(sentence));
    ratios.push_back(seconds[0].back() / seconds[1].back());
  }
  fmt::print("isa {}, {}, beam {}, {} sentences\n", cpu::active_isa(),
             to_string(*options.precision), task.search.beam_size, task.batches.size());
  const std::size_t threads[] = {1, options.threads_per_sentence};
  for (const int which : {0, 1})
    fmt::print("{} thread{}: median {:.2f} ms, 95 % within {:.2f} ms\n", threads[which],
               threads[which] == 1 ? "" : "s", milliseconds(seconds[which], 0.5),
               milliseconds(seconds[which], 0.95));
  const auto [low, high] = median_bounds(ratios);
  fmt::print("ratio {:.3f} [{:.3f}, {:.3f}] of {} pairs\n", median(ratios), low, high,
             ratios.size());
}

}  // namespace
}  // namespace fuselage

int main(int argc, char** argv) {
  return fuselage::run_program(
      {"latency_bench", "MODEL TEXT [beam] [threads] [precision] [sentences]", 2,
       "One sentence at a time, with one thread and with several."},
      argc, argv, fuselage::run);
}
