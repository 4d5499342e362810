// The ladder of Devlin 2017, "Sharp Models on Dull Hardware": what each of his techniques gains
// over the one before, on a graph in plain equations from which the optimizer makes them, in single
// precision; and then what products of integers add to all of them. Efficiencies are at the peak of
// float32 all the same. See docs/benchmarks/README.md.
//
//   devlin_bench GRAPH MODEL TEXT [beam] [mini-batch] [rounds] [sentences]
//
// GRAPH is a decoder as text, which gets random weights. MODEL translates TEXT once; its lengths,
// parents and words are replayed with GRAPH on every rung.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <random>
#include <set>

#include "backends/compile.h"
#include "backends/cpu/isa.h"
#include "base/error.h"
#include "base/file.h"
#include "bench/measure.h"
#include "bench/program.h"
#include "bench/search_task.h"
#include "bench/trace.h"
#include "decoding/search_head.h"
#include "graph/text.h"
#include "graph/verifier.h"
#include "models/load_model.h"
#include "ops/registry.h"

namespace fuselage {
namespace {

/// A technique, and the passes and rules that are not there without it.
struct Technique {
  std::string name;
  std::vector<std::string> rules;
};

const std::vector<Technique>& techniques() {
  static const std::vector<Technique> all = {{"embeddings", {"embeddings"}},
                                             {"attention", {"attention"}},
                                             {"merged states", {"merge_states"}},
                                             {"fusions",
                                              {"merge_products", "fuse_output", "fuse_attention",
                                               "fuse_norm", "fuse_pointwise", "fuse_linear"}}};
  return all;
}
constexpr std::size_t kEmbeddings = 0, kFusions = 3;
/// The rung with all of them.
constexpr std::size_t kTop = 4;

/// Precisions of the whole, and how far from the baseline's a score may be.
struct Precise {
  const char* name;
  float tolerance;
};
constexpr Precise kPrecisions[] = {{"fp32", 1e-4f}, {"int16", 1e-2f}, {"int8", 0.5f}};

/// Numbers of techniques.
using Techniques = std::set<std::size_t>;

/// All passes but those of some techniques. What is left without any is what every engine does: one
/// spelling, no dead code, input projections out of the loops.
CompileOptions options_without(const Techniques& left_out) {
  CompileOptions options{.passes = "all"};
  // It cuts products into parts for the first two to move.
  if (left_out.contains(0) && left_out.contains(1)) options.passes += ",-split_products";
  for (const std::size_t technique : left_out)
    for (const std::string& rule : techniques()[technique].rules) options.passes += ",-" + rule;
  // Room for the tables of this model's last words; none where the law must not count on tables.
  options.precompute_memory = left_out.contains(kEmbeddings) ? 0 : 256;
  return options;
}

/// Normal weights for which the sums that enter an activation are neither small nor large.
TensorMap random_weights(const Graph& graph) {
  std::mt19937 random(1);
  TensorMap weights;
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    if (node.op->name != "param") continue;
    const Type& type = graph.value(node.results[0]).type;
    const bool has_rows = type.domain != graph.none();
    Dims shape = type.dims;
    float deviation = 1;
    if (has_rows)
      shape.insert(shape.begin(), graph.domain(type.domain).size);
    else
      deviation = shape.size() == 1 ? 0.1f : 1 / std::sqrt(static_cast<float>(shape[0]));
    std::normal_distribution<float> normal(0, deviation);
    Tensor tensor(DType::f32, shape);
    for (std::int64_t i = 0; i < tensor.size(); ++i)
      tensor.mutable_data<float>()[i] = normal(random);
    weights.emplace(node.attr<std::string>("name"), tensor);
  }
  return weights;
}

Trace record_search(const Model& model, const SearchTask& task) {
  Trace trace;
  const std::int32_t k = BeamSearch::candidates_per_row(task.search);
  const auto executable = recording(
      compile(with_search_head(model.graph, SearchHead::k_best, k), model.weights), trace);
  BeamSearch search(*executable, task.search);
  for (const auto& batch : task.batches) search.search(batch);
  return trace;
}

/// Scores and words of every row of a replay.
struct Outputs {
  std::vector<float> scores;
  std::vector<std::int32_t> words;
};

struct Seconds {
  double source = 0, step = 0;
  double whole() const { return source + step; }
};

/// The graph without some techniques, ready to replay a trace.
class Rung {
 public:
  Rung(std::string name, const Techniques& left_out, const Graph& graph, const TensorMap& weights,
       const Precise& precision = kPrecisions[0])
      : name_(std::move(name)),
        tolerance_(precision.tolerance),
        executable_(compile(graph, weights, options_in(precision, left_out))),
        worker_(executable_->make_worker()),
        scores_(executable_->output("best_scores")),
        words_(executable_->output("best_words")),
        unfused_(graph) {
    Techniques fusions_too = left_out;
    fusions_too.insert(kFusions);
    optimize(unfused_, options_without(fusions_too));
  }

  const std::string& name() const { return name_; }
  float tolerance() const { return tolerance_; }

  /// The optimized graph before fusions, which save no operations but spell some of them in more.
  const Graph& unfused() const { return unfused_; }

  Seconds replay(const Trace& trace, Outputs* outputs = nullptr) {
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

 private:
  static CompileOptions options_in(const Precise& precision, const Techniques& left_out) {
    CompileOptions options = options_without(left_out);
    options.precision = precision.name;
    return options;
  }

  void keep(Outputs& outputs) const {
    const OutputRows<float> scores = worker_->floats(scores_);
    const OutputRows<std::int32_t> words = worker_->integers(words_);
    outputs.scores.insert(outputs.scores.end(), scores.data,
                          scores.data + scores.rows * scores.cols);
    outputs.words.insert(outputs.words.end(), words.data, words.data + words.rows * words.cols);
  }

  std::string name_;
  float tolerance_;
  std::unique_ptr<Executable> executable_;
  std::unique_ptr<Worker> worker_;
  std::size_t scores_, words_;
  Graph unfused_;
};

/// The baseline, a rung for each technique with all before it, then the whole in integers, and at
/// the end the whole again without one technique at a time.
std::vector<Rung> make_rungs(const Graph& graph, const TensorMap& weights) {
  Techniques left_out{0, 1, 2, 3};
  std::vector<Rung> rungs;
  rungs.emplace_back("baseline", left_out, graph, weights);
  for (std::size_t i = 0; i < techniques().size(); ++i) {
    left_out.erase(i);
    rungs.emplace_back("+ " + techniques()[i].name, left_out, graph, weights);
  }
  for (const Precise& precision : kPrecisions)
    if (&precision != kPrecisions)
      rungs.emplace_back(fmt::format("all in {}", precision.name), Techniques{}, graph, weights,
                         precision);
  for (std::size_t i = 0; i < kFusions; ++i)
    rungs.emplace_back("all but " + techniques()[i].name, Techniques{i}, graph, weights);
  return rungs;
}

/// Throws when a rung gives other scores than the baseline; tells how many words differ, which they
/// may where two have almost the same score.
void compare_outputs(std::vector<Rung>& rungs, const Trace& trace) {
  Outputs baseline;
  rungs[0].replay(trace, &baseline);
  for (Rung& rung : rungs) {
    Outputs outputs;
    rung.replay(trace, &outputs);
    float furthest = 0;
    std::size_t other_words = 0;
    for (std::size_t i = 0; i < baseline.scores.size(); ++i) {
      const float apart = std::abs(outputs.scores[i] - baseline.scores[i]);
      if (!(apart <= rung.tolerance()))
        throw Error("'{}': a score is {}, the baseline's {}", rung.name(), outputs.scores[i],
                    baseline.scores[i]);
      furthest = std::max(furthest, apart);
      other_words += outputs.words[i] != baseline.words[i] ? 1 : 0;
    }
    fmt::print("{}: scores within {:.1e} of the baseline's; {} of {} k-best words differ\n",
               rung.name(), furthest, other_words, baseline.words.size());
  }
}

/// Seconds of each rung in each round.
using Rounds = std::vector<std::vector<Seconds>>;

/// Runs all rungs up and down again in each round, so that a drift of the machine's speed hits all
/// alike.
Rounds measure(std::vector<Rung>& rungs, const Trace& trace, int rounds) {
  Rounds measured(rungs.size());
  for (int round = 0; round < rounds; ++round) {
    std::vector<Seconds> sums(rungs.size());
    const auto run = [&](std::size_t i) {
      const Seconds seconds = rungs[i].replay(trace);
      sums[i].source += seconds.source / 2;
      sums[i].step += seconds.step / 2;
    };
    for (std::size_t i = 0; i < rungs.size(); ++i) run(i);
    for (std::size_t i = rungs.size(); i-- > 0;) run(i);
    for (std::size_t i = 0; i < rungs.size(); ++i) measured[i].push_back(sums[i]);
  }
  return measured;
}

/// "1.234 [1.210, 1.250]": median ratio of two rungs' times and its 95 % bounds.
template <typename Part>
std::string ratio(const std::vector<Seconds>& below, const std::vector<Seconds>& above, Part part) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < below.size(); ++i) ratios.push_back(part(below[i]) / part(above[i]));
  const auto [low, high] = median_bounds(ratios);
  return fmt::format("{:.3f} [{:.3f}, {:.3f}]", median(ratios), low, high);
}

template <typename Part>
double median_of(const std::vector<Seconds>& rounds, Part part) {
  std::vector<double> seconds;
  for (const Seconds& round : rounds) seconds.push_back(part(round));
  return median(std::move(seconds));
}

/// Prints what the measured rungs gain, a line each.
class Report {
 public:
  Report(const std::vector<Rung>& rungs, const Rounds& measured, const RowCounts& counts)
      : rungs_(rungs), measured_(measured) {
    for (const Rung& rung : rungs) flop_.push_back(operations(rung.unfused(), counts));
  }

  void print(double peak) const {
    fmt::print("{:21} {:>14} {:>14} {:>8} {:>5}  {:20}  {:5}  {:20}  {:5}\n", "", "source program",
               "step program", "weights", "eff.", "whole", "cap", "step", "cap");
    for (std::size_t i = 0; i < rungs_.size(); ++i) {
      const Operations& flop = flop_[i];
      fmt::print("{:21} {:6.1f}G {:5.2f}s {:6.1f}G {:5.2f}s {:6.1f}GB {:3.0f} %", rungs_[i].name(),
                 flop.source / 1e9, median_of(measured_[i], source), flop.step / 1e9,
                 median_of(measured_[i], step), flop.step_weights / 1e9,
                 100 * whole(flop) / peak / median_of(measured_[i], whole<Seconds>));
      if (i > 0 && i <= kTop) compare(i - 1, i);
      if (i > kTop && i < kTop + std::size(kPrecisions)) compare(kTop, i);
      if (i >= kTop + std::size(kPrecisions)) compare(i, kTop);
      fmt::print("\n");
    }
    for (std::size_t i = kTop; i < kTop + std::size(kPrecisions); ++i) {
      fmt::print("{:66}", i == kTop ? "all over the baseline" : rungs_[i].name());
      compare(0, i);
      fmt::print("\n");
    }
  }

 private:
  template <typename Parts>
  static double whole(const Parts& parts) {
    return parts.source + parts.step;
  }
  static double source(const Seconds& seconds) { return seconds.source; }
  static double step(const Seconds& seconds) { return seconds.step; }

  /// How much faster `above` is than `below`, and how many times fewer operations it has.
  void compare(std::size_t below, std::size_t above) const {
    fmt::print(
        "  {}  {:.3f}  {}  {:.3f}", ratio(measured_[below], measured_[above], whole<Seconds>),
        whole(flop_[below]) / whole(flop_[above]), ratio(measured_[below], measured_[above], step),
        flop_[below].step / flop_[above].step);
  }

  const std::vector<Rung>& rungs_;
  const Rounds& measured_;
  std::vector<Operations> flop_;
};

void run(const std::vector<std::string>& arguments) {
  if (arguments.size() < 3)
    throw Error("usage: devlin_bench GRAPH MODEL TEXT [beam] [mini-batch] [rounds] [sentences]");
  const auto argument = [&](std::size_t i, int otherwise) {
    return i < arguments.size() ? std::stoi(arguments[i]) : otherwise;
  };
  const Model model = load_model(arguments[1]).model;
  const int beam = argument(3, 6);
  const int batch = argument(4, 16);
  const int rounds = argument(5, 15);
  const int sentences = argument(6, 32);
  const SearchTask task =
      read_search_task(model, arguments[2], beam, static_cast<std::size_t>(batch),
                       static_cast<std::size_t>(sentences));
  const Trace trace = record_search(model, task);
  const RowCounts counts = count_rows(trace);

  const Graph plain = parse_graph(read_file(arguments[0]), arguments[0], all_ops());
  verify(plain);
  const TensorMap weights = random_weights(plain);
  const Graph graph = with_search_head(plain, SearchHead::k_best, beam);
  std::vector<Rung> rungs = make_rungs(graph, weights);

  const double peak = measured_peak();
  fmt::print("isa {}, peak {:.0f} GFLOP/s, beam {}, mini-batch {}, {} rounds\n", cpu::active_isa(),
             peak / 1e9, beam, batch, rounds);
  fmt::print(
      "{:.0f} sentences of {:.1f} tokens, {:.0f} steps of {:.1f} hypotheses; distinct parents per "
      "hypothesis: {:.3f}\n",
      counts.sentences, counts.source / counts.sentences, counts.steps,
      counts.hypotheses / counts.steps, counts.parents / counts.hypotheses);
  compare_outputs(rungs, trace);
  const Rounds measured = measure(rungs, trace, rounds);
  Report(rungs, measured, counts).print(peak);
}

}  // namespace
}  // namespace fuselage

int main(int argc, char** argv) {
  return fuselage::run_program("devlin_bench", argc, argv, fuselage::run);
}
