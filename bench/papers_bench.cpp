// Models of papers beside each other, as in table 3 of Devlin 2017: words per second as ratios to
// the first model's. See docs/benchmarks/README.md.
//
//   papers_bench MODEL TEXT PRECISION BEAM ROUNDS SENTENCES CONFIG...
//
// MODEL translates TEXT once, a sentence at a time; its lengths, parents and words are replayed
// with the model of each CONFIG (models/papers), which gets random weights.

#include <fmt/format.h>

#include <filesystem>

#include "backends/cpu/executable.h"
#include "backends/cpu/runtime/isa.h"
#include "bench/program.h"
#include "bench/replay.h"
#include "bench/roofs.h"
#include "fuselage/backends/compile.h"
#include "fuselage/decoding/search_head.h"
#include "fuselage/models/load_model.h"
#include "fuselage/passes/lowering/split_by_binding_time.h"

namespace fuselage {
namespace {

void run(const std::vector<std::string>& arguments) {
  const Model model = load_model(arguments[0]);
  CompileOptions options = numbers_from_string(arguments[2]);
  const int beam = std::stoi(arguments[3]);
  const int rounds = std::stoi(arguments[4]);
  const SearchTask task = read_search_task(model, arguments[1], beam, 1,
                                           static_cast<std::size_t>(std::stoi(arguments[5])));
  const Trace trace = record_search(model, task);
  const RowCounts counts = count_rows(trace);
  const Peaks peaks = peaks_or_products();

  std::vector<Replay> replays;
  std::vector<double> floors;
  for (auto config = arguments.begin() + 6; config != arguments.end(); ++config) {
    Model paper = load_model(*config, {.random_weights = 1});
    Graph graph = with_search_head(paper.graph, SearchHead::k_best, {.k = beam});
    optimize(graph, options);
    floors.push_back(operations(graph, counts).whole().floor(peaks));
    replays.emplace_back(std::filesystem::path(*config).stem().string(),
                         compile_cpu(split_by_binding_time(graph), paper.weights, {}));
  }
  fmt::print("isa {}, {}, beam {}, {} rounds; {:.0f} sentences of {:.1f} tokens, {} words\n",
             cpu::active_isa(), arguments[2], beam, rounds, counts.sentences,
             counts.source / counts.sentences, task.words);

  const Rounds measured = measure(replays, trace, rounds);
  const auto whole = [](const Seconds& seconds) { return seconds.whole(); };
  fmt::print("{:16} {:>9} {:>22} {:>16} {:>6}\n", "", "words/s", "over the first", "of operations",
             "eff.");
  for (std::size_t i = 0; i < replays.size(); ++i) {
    const double seconds = median_of(measured[i], whole);
    fmt::print("{:16} {:9.0f} {:>22} {:16.2f} {:5.0f}%\n", replays[i].name(),
               static_cast<double>(task.words) / seconds,
               show_ratio(measured[0], measured[i], whole), floors[0] / floors[i],
               100 * floors[i] / seconds);
  }
}

}  // namespace
}  // namespace fuselage

int main(int argc, char** argv) {
  return fuselage::run_program(
      {"papers_bench", "MODEL TEXT PRECISION BEAM ROUNDS SENTENCES CONFIG...", 7,
       "Models of papers beside each other, as ratios to the first."},
      argc, argv, fuselage::run);
}
