// The steps and the time that a search saves when it ends as soon as no open hypothesis can win any
// more, in three normalizations, and whether a result differs (none may).
//
//   early_stop_bench MODEL TEXT [beam] [mini-batch] [pairs]

#include <fmt/format.h>

#include "bench/measure.h"
#include "bench/program.h"
#include "bench/search_task.h"
#include "fuselage/backends/compile.h"
#include "fuselage/decoding/search_head.h"
#include "fuselage/models/load_model.h"

namespace fuselage {
namespace {

/// The best translation of each sentence, and the steps that all took.
struct Outcome {
  std::vector<Hypothesis> best;
  std::size_t steps = 0;
};

Outcome translate(BeamSearch& search, const SearchTask& task) {
  Outcome outcome;
  for (const auto& batch : task.batches) {
    for (NBest& n_best : search.search(batch)) outcome.best.push_back(std::move(n_best.at(0)));
    outcome.steps += search.steps();
  }
  return outcome;
}

bool same(const Hypothesis& a, const Hypothesis& b) {
  return a.words == b.words && a.word_scores == b.word_scores && a.score == b.score;
}

void run(const std::vector<std::string>& arguments) {
  const auto argument = [&](std::size_t i, const char* otherwise) {
    return i < arguments.size() ? arguments[i] : std::string(otherwise);
  };
  const Model model = load_model(arguments[0]);
  SearchTask task = read_search_task(model, arguments[1], std::stoi(argument(2, "6")),
                                     static_cast<std::size_t>(std::stoi(argument(3, "64"))));
  const int pairs = std::stoi(argument(4, "3"));
  const auto executable = compile(
      with_search_head(model.graph, SearchHead::k_best,
                       {.k = BeamSearch::candidates_per_row(task.search), .alignment = false}),
      model.weights, {.precision = model.decode.precision.value_or(Precision::fp32)});
  task.search.n_best = 1;
  for (const float normalize : {0.0f, 0.6f, 1.0f}) {
    task.search.normalize = normalize;
    task.search.early_stop = false;
    BeamSearch to_the_end(*executable, task.search);
    task.search.early_stop = true;
    BeamSearch early(*executable, task.search);
    const Outcome all = translate(to_the_end, task);
    const Outcome stopped = translate(early, task);
    std::size_t different = 0;
    for (std::size_t i = 0; i < all.best.size(); ++i)
      different += same(all.best[i], stopped.best[i]) ? 0 : 1;
    const Comparison compared = compare(
        pairs, [&] { translate(to_the_end, task); }, [&] { translate(early, task); });
    fmt::print(
        "normalize {:.1f}: {} sentences, {} different; steps of batches {} to {} ({:.1f} % fewer); "
        "ratio of times {:.3f} [{:.3f}, {:.3f}]\n",
        normalize, all.best.size(), different, all.steps, stopped.steps,
        100.0 * (1.0 - static_cast<double>(stopped.steps) / static_cast<double>(all.steps)),
        compared.ratio, compared.low, compared.high);
  }
}

}  // namespace
}  // namespace fuselage

int main(int argc, char** argv) {
  return fuselage::run_program(
      {"early_stop_bench", "MODEL TEXT [beam] [mini-batch] [pairs]", 2,
       "A search that ends when it is decided against one that goes on to the end."},
      argc, argv, fuselage::run);
}
