// How much faster a model translates with one set of passes than with another: both in one process,
// turn and turn about, single-threaded, and beside the time that the counted operations need at the
// peak measured in the same run.
//
//   passes_bench MODEL TEXT [beam] [mini-batch] [pairs] [baseline passes] [candidate passes]

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <map>
#include <numeric>
#include <random>

#include "backends/compile.h"
#include "backends/cpu/isa.h"
#include "backends/cpu/kernels/table.h"
#include "base/error.h"
#include "decoding/beam_search.h"
#include "decoding/search_head.h"
#include "decoding/vocabulary_pair.h"
#include "models/load_model.h"
#include "passes/workload.h"

namespace fuselage {
namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// FLOP a second of products whose operands stay in the first-level cache.
double measured_peak() {
  constexpr std::size_t kRows = 60, kSize = 64, kRepeats = 20000;
  const std::vector<float> w(kSize * kSize, 0.5f), a(kRows * kSize, 0.5f);
  std::vector<float> c(kRows * kSize);
  const auto matrix = cpu::PackedMatrix::pack(w.data(), kSize, kSize, kSize, false);
  double best = 0;
  for (int block = 0; block < 5; ++block) {
    const double begin = now();
    for (std::size_t i = 0; i < kRepeats; ++i)
      cpu::kernels().gemm({.data = a.data(), .stride = kSize, .columns = kSize}, kRows, matrix,
                          {c.data(), kSize});
    best = std::max(best, 2.0 * kRows * kSize * kSize * kRepeats / (now() - begin));
  }
  return best;
}

/// Rows that the domains of a search had, added up over its steps.
struct RowCounts {
  double sentences = 0, source = 0, parents = 0, hypotheses = 0, hypothesis_source = 0, steps = 0;
};

class CountingWorker : public Worker {
 public:
  CountingWorker(std::unique_ptr<Worker> worker, RowCounts& counts)
      : worker_(std::move(worker)), counts_(counts) {}

  void begin(std::span<const WordIds> sentences, const StepLimits& limits) override {
    lengths_.clear();
    for (const WordIds& sentence : sentences) {
      lengths_.push_back(static_cast<double>(sentence.size()));
      counts_.source += lengths_.back();
    }
    counts_.sentences += static_cast<double>(sentences.size());
    worker_->begin(sentences, limits);
  }

  void step(const StepInput& input) override {
    ++counts_.steps;
    counts_.parents += static_cast<double>(input.parents.size());
    counts_.hypotheses += static_cast<double>(input.hypothesis_parent.size());
    for (const std::int32_t parent : input.hypothesis_parent)
      counts_.hypothesis_source += lengths_[static_cast<std::size_t>(
          input.parent_sentence[static_cast<std::size_t>(parent)])];
    worker_->step(input);
  }

  OutputRows<float> floats(std::size_t output) const override { return worker_->floats(output); }
  OutputRows<std::int32_t> integers(std::size_t output) const override {
    return worker_->integers(output);
  }

 private:
  std::unique_ptr<Worker> worker_;
  RowCounts& counts_;
  std::vector<double> lengths_;
};

class CountingExecutable : public Executable {
 public:
  CountingExecutable(std::unique_ptr<Executable> executable, RowCounts& counts)
      : executable_(std::move(executable)), counts_(counts) {}
  std::unique_ptr<Worker> make_worker() const override {
    return std::make_unique<CountingWorker>(executable_->make_worker(), counts_);
  }
  std::size_t output(std::string_view name) const override { return executable_->output(name); }

 private:
  std::unique_ptr<Executable> executable_;
  RowCounts& counts_;
};

/// Operations of a graph for these rows; pairs on the source or prefix side are left out, so the
/// figure is a lower bound for a transformer.
double operations(const Graph& graph, const RowCounts& counts) {
  double flop = 0;
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    if (node.results.empty() || graph.binding(id) == BindingTime::load) continue;
    const Domain& domain = graph.domain(graph.value(node.results[0]).type.domain);
    double rows = 0;
    if (domain.kind == DomainKind::sentence) rows = counts.sentences;
    if (domain.kind == DomainKind::source || domain.kind == DomainKind::scan) rows = counts.source;
    if (domain.kind == DomainKind::parent) rows = counts.parents;
    if (domain.kind == DomainKind::hypothesis || domain.kind == DomainKind::prefix)
      rows = counts.hypotheses;
    if (domain.kind == DomainKind::pairs &&
        graph.domain(domain.left).kind == DomainKind::hypothesis &&
        graph.domain(domain.right).kind == DomainKind::source)
      rows = counts.hypothesis_source;
    flop += rows * cost_of(graph, id).flop;
  }
  return flop;
}

struct Contestant {
  std::string passes;
  double load_seconds = 0;
  double flop = 0;
  std::unique_ptr<Executable> executable;
  std::unique_ptr<BeamSearch> search;
  std::vector<double> seconds;
};

struct Settings {
  SearchOptions search;
  std::vector<std::vector<WordIds>> batches;
};

double translate(BeamSearch& search, const Settings& settings) {
  const double begin = now();
  for (const auto& batch : settings.batches) search.search(batch);
  return now() - begin;
}

Contestant prepare(const Model& model, const Settings& settings, const std::string& passes) {
  Contestant made{.passes = passes};
  const Graph graph = with_search_head(model.graph, SearchHead::k_best,
                                       BeamSearch::candidates_per_row(settings.search));
  const CompileOptions options{.passes = passes};
  const double begin = now();
  made.executable = compile(graph, model.weights, options);
  made.load_seconds = now() - begin;
  made.search = std::make_unique<BeamSearch>(*made.executable, settings.search);

  RowCounts counts;
  const CountingExecutable counting(compile(graph, model.weights, options), counts);
  BeamSearch counted(counting, settings.search);
  translate(counted, settings);
  Graph optimized = graph;
  optimize(optimized, options);
  made.flop = operations(optimized, counts);
  if (passes != "none")
    fmt::print("distinct parents per hypothesis: {:.3f}\n", counts.parents / counts.hypotheses);
  return made;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Bounds that hold the median of the ratios with 95 % confidence, by resampling.
std::pair<double, double> median_bounds(const std::vector<double>& ratios) {
  std::mt19937 random(1);
  std::uniform_int_distribution<std::size_t> pick(0, ratios.size() - 1);
  std::vector<double> medians;
  for (int i = 0; i < 2000; ++i) {
    std::vector<double> sample(ratios.size());
    for (double& value : sample) value = ratios[pick(random)];
    medians.push_back(median(std::move(sample)));
  }
  std::sort(medians.begin(), medians.end());
  return {medians[50], medians[1949]};
}

Settings read_settings(const Model& model, const std::string& text, int beam, std::size_t batch) {
  const VocabularyPair vocabularies = load_vocabulary_pair(model, {.paths = model.vocabularies});
  Settings settings;
  settings.search = {.beam_size = beam,
                     .normalize = 0.6f,
                     .end_id = vocabularies.target->end_id(),
                     .suppressed = {vocabularies.target->unknown_id()}};
  std::vector<WordIds> sentences;
  std::ifstream input(text);
  if (!input) throw Error("{}: cannot be read", text);
  for (std::string line; std::getline(input, line);) {
    sentences.push_back(vocabularies.source->encode(line));
    if (sentences.back().size() < 2) sentences.pop_back();
  }
  std::stable_sort(sentences.begin(), sentences.end(),
                   [](const WordIds& a, const WordIds& b) { return a.size() > b.size(); });
  for (std::size_t i = 0; i < sentences.size(); i += batch)
    settings.batches.emplace_back(
        sentences.begin() + static_cast<std::ptrdiff_t>(i),
        sentences.begin() + static_cast<std::ptrdiff_t>(std::min(i + batch, sentences.size())));
  return settings;
}

void run(const std::vector<std::string>& arguments) {
  if (arguments.size() < 2)
    throw Error(
        "usage: passes_bench MODEL TEXT [beam] [mini-batch] [pairs] [baseline] [candidate]");
  const auto argument = [&](std::size_t i, const char* otherwise) {
    return i < arguments.size() ? arguments[i] : std::string(otherwise);
  };
  const Model model = load_model(arguments[0]).model;
  const int beam = std::stoi(argument(2, "6"));
  const auto batch = static_cast<std::size_t>(std::stoi(argument(3, "32")));
  const int pairs = std::stoi(argument(4, "15"));
  const Settings settings = read_settings(model, arguments[1], beam, batch);

  const double peak = measured_peak();
  fmt::print("isa {}, peak {:.0f} GFLOP/s, beam {}, mini-batch {}, {} batches\n", cpu::active_isa(),
             peak / 1e9, beam, batch, settings.batches.size());
  std::vector<Contestant> contestants;
  contestants.push_back(prepare(model, settings, argument(5, "none")));
  contestants.push_back(prepare(model, settings, argument(6, "all")));
  std::vector<double> ratios;
  for (int i = 0; i < pairs; ++i) {
    // ABBA: a drift of the machine's speed hits both alike.
    double spent[2] = {0, 0};
    for (const int which : {0, 1, 1, 0})
      spent[which] += translate(*contestants[which].search, settings);
    for (const int which : {0, 1}) contestants[which].seconds.push_back(spent[which] / 2);
    ratios.push_back(spent[0] / spent[1]);
  }
  for (const Contestant& c : contestants)
    fmt::print(
        "passes {:12} {:7.3f} s, floor {:6.3f} s ({:.0f} GFLOP, efficiency {:.0f} %), "
        "load {:.2f} s\n",
        c.passes, median(c.seconds), c.flop / peak, c.flop / 1e9,
        100 * c.flop / peak / median(c.seconds), c.load_seconds);
  const auto [low, high] = median_bounds(ratios);
  fmt::print("ratio {:.3f} [{:.3f}, {:.3f}] of {} pairs\n", median(ratios), low, high, pairs);
}

}  // namespace
}  // namespace fuselage

int main(int argc, char** argv) {
  try {
    fuselage::run({argv + 1, argv + argc});
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "passes_bench: {}\n", error.what());
    return 1;
  }
}
