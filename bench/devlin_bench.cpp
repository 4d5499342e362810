// The ladder of Devlin 2017, "Sharp Models on Dull Hardware": the gain of each technique over the
// ones before it, in the paper's order. The optimizer derives the techniques from a graph in plain
// equations. See docs/benchmarks/README.md.
//
//   devlin_bench CONFIG MODEL TEXT [beam] [mini-batch] [rounds] [sentences]
//
// CONFIG is a model of models/papers, which gets random weights. MODEL translates TEXT once; its
// lengths, parents and words are replayed with CONFIG on every rung.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
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

/// A technique, its passes and rules, and the paper's speed-up over the paper's baseline with this
/// technique and the ones before it.
struct Technique {
  std::string name;
  std::vector<std::string> rules;
  double paper;
};

/// The techniques in the paper's order, after products of 16-bit integers.
const std::vector<Technique>& techniques() {
  static const std::vector<Technique> all = {
      {"embeddings", {"embeddings"}, 3.25},
      {"attention", {"attention"}, 3.57},
      {"SIMD, tables",
       {"merge_products", "fuse_output", "fuse_attention", "fuse_norm", "fuse_pointwise",
        "fuse_linear"},
       4.06},
      {"merged states", {"merge_states", "merge_attention"}, 4.37}};
  return all;
}
constexpr std::size_t kEmbeddings = 0, kAttention = 1, kFusions = 2;
constexpr double kPaperInt16 = 2.59;

/// Indexes of techniques.
using Techniques = std::set<std::size_t>;
const Techniques kAll{0, 1, 2, 3};

/// All passes except the passes of some techniques. Without any technique, the passes of every
/// engine remain: canonical forms, no dead code, input projections out of the loops.
CompileOptions options_without(const Techniques& left_out, Precision precision) {
  CompileOptions options{.passes = "all", .precision = precision};
  // split_products cuts products into parts that the first two techniques move.
  if (left_out.contains(kEmbeddings) && left_out.contains(kAttention))
    options.passes += ",-split_products";
  for (const std::size_t technique : left_out)
    for (const std::string& rule : techniques()[technique].rules) options.passes += ",-" + rule;
  if (!left_out.contains(kFusions)) options.activations = Activations::table;
  // Room for the tables of this model's last words; none if the embeddings technique is left out.
  options.precompute_memory = left_out.contains(kEmbeddings) ? 0 : 256;
  return options;
}

/// Maximum difference of a score from the baseline's.
float tolerance_of(const CompileOptions& options) {
  if (options.precision == Precision::int8) return 0.5f;
  if (options.activations.value_or(Activations::exact) != Activations::exact) return 0.05f;
  return options.precision == Precision::int16 ? 1e-2f : 1e-4f;
}

/// The graph with some techniques.
struct Rung {
  std::string name;
  std::optional<std::size_t> before;  ///< the rung before it
  double paper = 0;                   ///< the paper's factor over its baseline; 0: none
  Operations operations;
  float tolerance = 0;
};

class Ladder {
 public:
  Ladder(const Graph& graph, const TensorMap& weights, const RowCounts& counts)
      : graph_(graph), weights_(weights), counts_(counts) {
    for (const PeerLibrary& library : peer_libraries())
      add({.name = "fp32 by " + library.name}, kAll, Precision::fp32, {&library.kernel, 1});
    add({.name = "fp32, ours"}, kAll, Precision::fp32);
    for (const Precision precision : {Precision::int16, Precision::int8}) {
      Techniques left_out = kAll;
      add({.name = fmt::format("+ {}", to_string(precision)),
           .before = 0,
           .paper = paper(precision, kPaperInt16)},
          left_out, precision);
      for (std::size_t i = 0; i < techniques().size(); ++i) {
        left_out.erase(i);
        add({.name = "+ " + techniques()[i].name,
             .before = rungs.size() - 1,
             .paper = paper(precision, techniques()[i].paper)},
            left_out, precision);
      }
    }
  }

  std::vector<Rung> rungs;
  std::vector<Replay> replays;  ///< of each rung

 private:
  static double paper(Precision precision, double factor) {
    return precision == Precision::int16 ? factor : 0;
  }

  void add(Rung rung, const Techniques& left_out, Precision precision,
           std::span<const cpu::KernelEntry> kernels = {}) {
    const CompileOptions options = options_without(left_out, precision);
    Graph optimized = graph_;
    optimize(optimized, options);
    replays.emplace_back(
        rung.name, compile_cpu(split_by_binding_time(optimized), weights_, {.kernels = kernels}));
    // Fusions save no operations, but some fused ops count more operations.
    Techniques fusions_too = left_out;
    fusions_too.insert(kFusions);
    Graph unfused = graph_;
    optimize(unfused, options_without(fusions_too, precision));
    rung.operations = operations(unfused, counts_);
    rung.tolerance = tolerance_of(options);
    rungs.push_back(std::move(rung));
  }

  const Graph& graph_;
  const TensorMap& weights_;
  const RowCounts& counts_;
};

/// Throws Error when a rung gives other scores than the first. Prints the number of different
/// words, which occur where two words have almost the same score.
void compare_outputs(Ladder& ladder, const Trace& trace) {
  Outputs want;
  ladder.replays[0].run(trace, &want);
  for (std::size_t r = 1; r < ladder.rungs.size(); ++r) {
    Outputs outputs;
    ladder.replays[r].run(trace, &outputs);
    float furthest = 0;
    std::size_t other_words = 0;
    for (std::size_t i = 0; i < want.scores.size(); ++i) {
      const float apart = std::abs(outputs.scores[i] - want.scores[i]);
      if (!(apart <= ladder.rungs[r].tolerance))
        throw Error(fmt::format("'{}': a score is {}, the baseline's {}", ladder.rungs[r].name,
                                outputs.scores[i], want.scores[i]));
      furthest = std::max(furthest, apart);
      other_words += outputs.words[i] != want.words[i] ? 1 : 0;
    }
    fmt::print("{:18} scores within {:.1e} of the first's; {} of {} k-best words differ\n",
               ladder.rungs[r].name, furthest, other_words, want.words.size());
  }
}

/// Prints a line with the gains of each measured rung.
class Report {
 public:
  Report(const std::vector<Rung>& rungs, const Rounds& measured, const Peaks& peaks)
      : rungs_(rungs), measured_(measured), peaks_(peaks) {
    // The baseline is the best library.
    for (std::size_t i = 0; i < peer_libraries().size(); ++i)
      if (median_of(measured_[i], whole) < median_of(measured_[baseline_], whole)) baseline_ = i;
  }

  void print() const {
    fmt::print("\nbaseline: {}\n", rungs_[baseline_].name);
    fmt::print("{:18} {:>15} {:>16} {:>8} {:>4}  {:20} {:>5} {:>5}  {:20} {:>5} {:>5} {:>5}\n", "",
               "source program", "step program", "weights", "eff.", "over the rung before", "paper",
               "cap", "over the baseline", "paper", "cap", "share");
    for (std::size_t i = 0; i < rungs_.size(); ++i) {
      print_work(i);
      if (rungs_[i].before) print_ratios(i);
      fmt::print("\n");
    }
  }

 private:
  static double whole(const Seconds& seconds) { return seconds.whole(); }
  static double source(const Seconds& seconds) { return seconds.source; }
  static double step(const Seconds& seconds) { return seconds.step; }

  double floor(std::size_t i) const { return rungs_[i].operations.whole().floor(peaks_); }

  void print_work(std::size_t i) const {
    const Operations& work = rungs_[i].operations;
    fmt::print("{:18} {:6.1f}G {:6.3f}s {:7.1f}G {:6.3f}s {:6.1f}GB {:3.0f}%", rungs_[i].name,
               work.source.total() / 1e9, median_of(measured_[i], source), work.step.total() / 1e9,
               median_of(measured_[i], step), work.step_weights / 1e9,
               100 * floor(i) / median_of(measured_[i], whole));
  }

  /// Prints the speed-up of a rung over the one before and over the baseline, with the ratios of
  /// their floors: the speed-ups if both reach their floors.
  void print_ratios(std::size_t i) const {
    const bool first = *rungs_[i].before == 0;
    const std::size_t before = first ? baseline_ : *rungs_[i].before;
    const double paper_before = first ? 1 : rungs_[before].paper;
    const double cap = floor(baseline_) / floor(i);
    const double gained = median_of(measured_[baseline_], whole) / median_of(measured_[i], whole);
    fmt::print("  {:20} {:>5} {:5.2f}  {:20} {:>5} {:5.2f} {:3.0f} %",
               show_ratio(measured_[before], measured_[i], whole),
               show(rungs_[i].paper / paper_before), floor(before) / floor(i),
               show_ratio(measured_[baseline_], measured_[i], whole), show(rungs_[i].paper), cap,
               100 * gained / cap);
  }

  static std::string show(double factor) {
    return factor > 0 ? fmt::format("{:.2f}", factor) : std::string();
  }

  const std::vector<Rung>& rungs_;
  const Rounds& measured_;
  const Peaks& peaks_;
  std::size_t baseline_ = 0;
};

void run(const std::vector<std::string>& arguments) {
  const auto argument = [&](std::size_t i, int otherwise) {
    return i < arguments.size() ? std::stoi(arguments[i]) : otherwise;
  };
  const Model model = load_model(arguments[1]);
  const int beam = argument(3, 6);
  const int batch = argument(4, 1);
  const int rounds = argument(5, 15);
  const SearchTask task =
      read_search_task(model, arguments[2], beam, static_cast<std::size_t>(batch),
                       static_cast<std::size_t>(argument(6, 16)));
  const Trace trace = record_search(model, task);
  const RowCounts counts = count_rows(trace);

  const Model plain = load_model(arguments[0], {.random_weights = 1});
  const Graph graph = with_search_head(plain.graph, SearchHead::k_best, {.k = beam});
  Ladder ladder(graph, plain.weights, counts);

  const Peaks peaks = peaks_or_products();
  fmt::print(
      "isa {}, peaks {:.0f}, {:.0f}, {:.0f} G multiply-adds/s in f32, i16, i8; beam {}, mini-batch "
      "{}, {} rounds\n",
      cpu::active_isa(), peaks.f32 / 1e9, peaks.i16 / 1e9, peaks.i8 / 1e9, beam, batch, rounds);
  fmt::print(
      "{:.0f} sentences of {:.1f} tokens, {:.0f} steps of {:.1f} hypotheses; distinct parents per "
      "hypothesis: {:.3f}\n",
      counts.sentences, counts.source / counts.sentences, counts.steps,
      counts.hypotheses / counts.steps, counts.parents / counts.hypotheses);
  compare_outputs(ladder, trace);
  Report(ladder.rungs, measure(ladder.replays, trace, rounds), peaks).print();
}

}  // namespace
}  // namespace fuselage

int main(int argc, char** argv) {
  return fuselage::run_program(
      {"devlin_bench", "CONFIG MODEL TEXT [beam] [mini-batch] [rounds] [sentences]", 3,
       "The ladder of Devlin 2017: the gain of each technique over those before it."},
      argc, argv, fuselage::run);
}
