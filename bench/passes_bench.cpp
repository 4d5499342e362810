// The speed-up of one set of passes over another: both in one process, alternately,
// single-threaded. Also the time of the counted operations at the peak that is measured in the same
// run.
//
//   passes_bench MODEL TEXT [beam] [mini-batch] [pairs] [baseline passes] [candidate passes]
//
// Passes may be followed by a precision, activations and a type of keys and values: all@int8,
// all@int8:table, all@int8:kv-int8. Without a precision, products are in fp32, whatever the model's
// default. The floor uses the peak of the type in which products are computed.

#include <fmt/format.h>

#include "backends/cpu/runtime/isa.h"
#include "bench/measure.h"
#include "bench/program.h"
#include "bench/replay.h"
#include "bench/roofs.h"
#include "bench/search_task.h"
#include "bench/trace.h"
#include "fuselage/backends/compile.h"
#include "fuselage/base/error.h"
#include "fuselage/decoding/search_head.h"
#include "fuselage/models/load_model.h"

namespace fuselage {
namespace {

struct Contestant {
  std::string passes;
  double load_seconds = 0;
  Work work;
  std::unique_ptr<Executable> executable;
  std::unique_ptr<BeamSearch> search;
};

void translate(BeamSearch& search, const SearchTask& task) {
  for (const auto& batch : task.batches) search.search(batch);
}

CompileOptions options_of(const std::string& contestant) {
  const std::size_t at = contestant.find('@');
  CompileOptions options{.precision = Precision::fp32};
  if (at != std::string::npos) options = numbers_from_string(contestant.substr(at + 1));
  options.passes = contestant.substr(0, at);
  return options;
}

Contestant prepare(const Model& model, const SearchTask& task, const std::string& passes) {
  Contestant made{.passes = passes};
  const Graph graph = with_search_head(model.graph, SearchHead::k_best,
                                       {.k = BeamSearch::candidates_per_row(task.search)});
  const CompileOptions options = options_of(passes);
  const double begin = now();
  made.executable = compile(graph, model.weights, options);
  made.load_seconds = now() - begin;
  made.search = std::make_unique<BeamSearch>(*made.executable, task.search);

  Trace trace;
  const auto recorded = recording(compile(graph, model.weights, options), trace);
  BeamSearch search(*recorded, task.search);
  translate(search, task);
  const RowCounts counts = count_rows(trace);
  Graph optimized = graph;
  optimize(optimized, options);
  made.work = operations(optimized, counts).whole();
  if (passes != "none")
    fmt::print("distinct parents per hypothesis: {:.3f}\n", counts.parents / counts.hypotheses);
  return made;
}

void run(const std::vector<std::string>& arguments) {
  const auto argument = [&](std::size_t i, const char* otherwise) {
    return i < arguments.size() ? arguments[i] : std::string(otherwise);
  };
  const Model model = load_model(arguments[0]);
  const int beam = std::stoi(argument(2, "6"));
  const auto batch = static_cast<std::size_t>(std::stoi(argument(3, "32")));
  const int pairs = std::stoi(argument(4, "15"));
  const SearchTask task = read_search_task(model, arguments[1], beam, batch);

  const Peaks peaks = peaks_or_products();
  fmt::print(
      "isa {}, peaks {:.0f}, {:.0f}, {:.0f} G multiply-adds/s in f32, i16, i8; beam {}, mini-batch "
      "{}, {} batches\n",
      cpu::active_isa(), peaks.f32 / 1e9, peaks.i16 / 1e9, peaks.i8 / 1e9, beam, batch,
      task.batches.size());
  const Contestant baseline = prepare(model, task, argument(5, "none"));
  const Contestant candidate = prepare(model, task, argument(6, "all"));
  const Comparison compared = compare(
      pairs, [&] { translate(*baseline.search, task); },
      [&] { translate(*candidate.search, task); });
  const auto report = [&peaks](const Contestant& contestant, double seconds) {
    const double floor = contestant.work.floor(peaks);
    fmt::print(
        "passes {:12} {:7.3f} s, floor {:6.3f} s ({:.0f} GFLOP, efficiency {:.0f} %), "
        "load {:.2f} s\n",
        contestant.passes, seconds, floor, contestant.work.total() / 1e9, 100 * floor / seconds,
        contestant.load_seconds);
  };
  report(baseline, compared.baseline);
  report(candidate, compared.candidate);
  fmt::print("ratio {:.3f} [{:.3f}, {:.3f}] of {} pairs\n", compared.ratio, compared.low,
             compared.high, pairs);
}

}  // namespace
}  // namespace fuselage

int main(int argc, char** argv) {
  return fuselage::run_program(
      {"passes_bench",
       "MODEL TEXT [beam] [mini-batch] [pairs] [baseline passes] [candidate passes]", 2,
       "A model with one set of passes against another."},
      argc, argv, fuselage::run);
}
