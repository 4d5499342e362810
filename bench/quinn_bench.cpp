// The comparison of Quinn & Ballesteros 2018, "Pieces of Eight: 8-bit Neural Machine Translation":
// 8-bit products against Eigen's float32 matrix-vector products, one sentence at a time; and
// against our own float32. See docs/benchmarks/README.md.
//
//   quinn_bench CONFIG MODEL TEXT [beam] [rounds] [sentences]
//
// CONFIG is a model of models/papers, which gets random weights. MODEL translates TEXT once; its
// lengths, parents and words are replayed with CONFIG by every contestant.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "backends/cpu/executable.h"
#include "backends/cpu/runtime/isa.h"
#include "bench/peer_kernels.h"
#include "bench/program.h"
#include "bench/replay.h"
#include "bench/roofs.h"
#include "fuselage/backends/compile.h"
#include "fuselage/base/error.h"
#include "fuselage/decoding/search_head.h"
#include "fuselage/models/load_model.h"
#include "fuselage/passes/lowering/split_by_binding_time.h"

namespace fuselage {
namespace {

/// Passes of an engine that runs the equations unchanged, except that input projections are out of
/// the encoder's loops.
constexpr const char* kPlain =
    "all,-split_products,-embeddings,-attention,-merge_states,-merge_attention,-merge_products,"
    "-fuse_output,-fuse_attention,-fuse_norm,-fuse_pointwise,-fuse_linear";

/// Maximum difference of a score from the first contestant's. Random weights give similar scores.
constexpr float kTolerance = 0.5f;

struct Contestant {
  std::string name;
  const char* passes;
  Precision precision;
  bool by_eigen = false;
};

const Contestant kContestants[] = {{"Eigen, vector by vector", kPlain, Precision::fp32, true},
                                   {"fp32, plain", kPlain, Precision::fp32},
                                   {"int8, plain", kPlain, Precision::int8},
                                   {"fp32, all passes", "all", Precision::fp32},
                                   {"int8, all passes", "all", Precision::int8}};

/// Minimum times of a contestant: its operations at the measured peaks, or reading its weights once
/// per step.
struct Floor {
  double source = 0, step_operations = 0, step_weights = 0;
  double bandwidth = 0;  ///< of repeated reading of as many bytes as the weights have
  double step_bytes = 0;
  double whole() const { return source + std::max(step_operations, step_weights); }
};

Floor floor_of(const Graph& graph, const RowCounts& counts, const Peaks& peaks) {
  const Operations work = operations(graph, counts);
  Floor floor{.source = work.source.floor(peaks), .step_operations = work.step.floor(peaks)};
  floor.step_bytes = work.step_weights / counts.steps;
  floor.bandwidth = read_bandwidth(static_cast<std::size_t>(floor.step_bytes));
  if (floor.bandwidth > 0) floor.step_weights = work.step_weights / floor.bandwidth;
  return floor;
}

class Contest {
 public:
  Contest(const Graph& graph, const TensorMap& weights, const RowCounts& counts) {
    const Peaks peaks = peaks_or_products();
    fmt::print("isa {}, peaks {:.0f} and {:.0f} G multiply-adds/s in f32 and i8\n",
               cpu::active_isa(), peaks.f32 / 1e9, peaks.i8 / 1e9);
    for (const Contestant& contestant : kContestants) {
      Graph optimized = graph;
      optimize(optimized, {.passes = contestant.passes, .precision = contestant.precision});
      std::span<const cpu::KernelEntry> kernels;
      if (contestant.by_eigen) kernels = {&vectors_by_eigen().kernel, 1};
      replays_.emplace_back(contestant.name, compile_cpu(split_by_binding_time(optimized), weights,
                                                         {.kernels = kernels}));
      floors_.push_back(floor_of(optimized, counts, peaks));
    }
  }

  /// Throws Error when scores differ by more than the error of integer products.
  void check_outputs(const Trace& trace) {
    Outputs want;
    replays_[0].run(trace, &want);
    for (std::size_t i = 1; i < replays_.size(); ++i) {
      Outputs outputs;
      replays_[i].run(trace, &outputs);
      float furthest = 0;
      for (std::size_t s = 0; s < want.scores.size(); ++s)
        furthest = std::max(furthest, std::abs(outputs.scores[s] - want.scores[s]));
      if (!(furthest <= kTolerance))
        throw Error(fmt::format("'{}': scores are up to {} from those of the first",
                                replays_[i].name(), furthest));
      fmt::print("{:24} scores within {:.1e} of the first's\n", replays_[i].name(), furthest);
    }
  }

  void measure_and_print(const Trace& trace, int rounds, double words, double steps) {
    const Rounds measured = measure(replays_, trace, rounds);
    fmt::print("\n{:24} {:>8} {:>9} {:>9} {:>9} {:>9} {:>8} {:>5}  {}\n", "", "words/s", "step",
               "roof of", "weights", "roof of", "GB/s", "eff.", "over Eigen");
    fmt::print("{:24} {:>8} {:>9} {:>9} {:>9} {:>9}\n", "", "", "", "products", "", "reading");
    for (std::size_t i = 0; i < replays_.size(); ++i) {
      const Floor& floor = floors_[i];
      const double seconds = median_of(measured[i], whole);
      fmt::print(
          "{:24} {:8.1f} {:6.3f} ms {:6.3f} ms {:6.1f} MB {:6.3f} ms {:8.1f} {:3.0f} %  {}\n",
          replays_[i].name(), words / seconds, 1e3 * median_of(measured[i], step) / steps,
          1e3 * floor.step_operations / steps, floor.step_bytes / 1e6,
          1e3 * floor.step_weights / steps, floor.bandwidth / 1e9, 100 * floor.whole() / seconds,
          show_ratio(measured[0], measured[i], whole));
    }
    fmt::print("int8 over our fp32, plain:      {}, caps {:.2f}\n",
               show_ratio(measured[1], measured[2], whole),
               floors_[1].whole() / floors_[2].whole());
    fmt::print("int8 over our fp32, all passes: {}, caps {:.2f}\n",
               show_ratio(measured[3], measured[4], whole),
               floors_[3].whole() / floors_[4].whole());
  }

 private:
  static double whole(const Seconds& seconds) { return seconds.whole(); }
  static double step(const Seconds& seconds) { return seconds.step; }

  std::vector<Replay> replays_;
  std::vector<Floor> floors_;
};

void run(const std::vector<std::string>& arguments) {
  const auto argument = [&](std::size_t i, int otherwise) {
    return i < arguments.size() ? std::stoi(arguments[i]) : otherwise;
  };
  const Model model = load_model(arguments[1]);
  const int beam = argument(3, 5);
  const int rounds = argument(4, 9);
  const SearchTask task =
      read_search_task(model, arguments[2], beam, 1, static_cast<std::size_t>(argument(5, 8)));
  const Trace trace = record_search(model, task);
  const RowCounts counts = count_rows(trace);
  const Model plain = load_model(arguments[0], {.random_weights = 1});

  Contest contest(with_search_head(plain.graph, SearchHead::k_best, {.k = beam}), plain.weights,
                  counts);
  fmt::print(
      "beam {}, {} rounds; {:.0f} sentences of {:.1f} tokens, {} words, {:.0f} steps of {:.1f} "
      "hypotheses\n",
      beam, rounds, counts.sentences, counts.source / counts.sentences, task.words, counts.steps,
      counts.hypotheses / counts.steps);
  contest.check_outputs(trace);
  contest.measure_and_print(trace, rounds, static_cast<double>(task.words), counts.steps);
}

}  // namespace
}  // namespace fuselage

int main(int argc, char** argv) {
  return fuselage::run_program(
      {"quinn_bench", "CONFIG MODEL TEXT [beam] [rounds] [sentences]", 3,
       "8-bit products against float32 products, as Quinn & Ballesteros 2018 compare them."},
      argc, argv, fuselage::run);
}
