#include "tests/passes/execute.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <random>

#include "backends/reference/interpreter.h"
#include "fuselage/base/quantized.h"
#include "fuselage/ops/structure/leaf.h"
#include "tests/passes/random_graph.h"

namespace fuselage {
namespace {

using Random = std::mt19937_64;

constexpr int kSteps = 3;

std::int32_t below(Random& random, std::int64_t limit) {
  return static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(limit));
}

float special_number(Random& random) {
  const float numbers[] = {0.0f,
                           -0.0f,
                           std::numeric_limits<float>::infinity(),
                           -std::numeric_limits<float>::infinity(),
                           std::numeric_limits<float>::quiet_NaN(),
                           1e-41f,
                           -1e-41f};
  return numbers[random() % std::size(numbers)];
}

/// The random choices of a search.
class Search {
 public:
  Search(const Graph& graph, std::uint64_t seed) : random_(seed) {
    for (std::uint32_t i = 0; i < graph.map_count(); ++i) {
      const RowMap& map = graph.map(MapId{i});
      if (map.kind != MapKind::word) continue;
      vocabulary_ = std::min(vocabulary_, graph.domain(map.to).size);
      if (!map.partial) no_word_ = 0;
    }
    for (int i = 0; i < 3; ++i) {
      WordIds words(1 + random_() % 4);
      for (std::int32_t& word : words) word = below(random_, vocabulary_);
      sentences_.push_back(std::move(words));
    }
    Random of_shortlists(seed);
    for (int i = 0; i < 3; ++i) {
      WordIds& words = shortlists_.emplace_back();
      for (std::int32_t word = 0; word < vocabulary_ && words.size() < 8; ++word)
        if (of_shortlists() % 2 == 0) words.push_back(word);
    }
  }

  void begin(RowFrame& frame) {
    const std::span<const BatchInput> inputs =
        frame.graph().find_input("features") ? features_.inputs() : std::span<const BatchInput>();
    frame.begin_batch({.sentences = sentences_, .shortlists = shortlists_, .inputs = inputs});
    for (std::int32_t s = 0; s < 3; ++s) {
      parents_.push_back(-1);
      parent_sentence_.push_back(s);
      hypothesis_parent_.push_back(s);
    }
    words_.assign(3, no_word_);
    positions_.assign(3, 0);
    frame.begin_step(input());
  }

  /// Goes on from random hypotheses, some of them twice and some not at all.
  void advance(RowFrame& frame) {
    std::vector<std::int32_t> survivors(2 + random_() % 4);
    for (std::int32_t& survivor : survivors)
      survivor = below(random_, static_cast<std::int64_t>(words_.size()));
    std::sort(survivors.begin(), survivors.end());
    std::vector<std::int32_t> parents, sentences, hypothesis_parent, positions;
    for (const std::int32_t survivor : survivors) {
      const auto at = static_cast<std::size_t>(survivor);
      if (parents.empty() || parents.back() != survivor) {
        parents.push_back(survivor);
        const auto parent = static_cast<std::size_t>(hypothesis_parent_[at]);
        sentences.push_back(parent_sentence_[parent]);
      }
      hypothesis_parent.push_back(static_cast<std::int32_t>(parents.size()) - 1);
      positions.push_back(positions_[at] + 1);
    }
    parents_ = std::move(parents);
    parent_sentence_ = std::move(sentences);
    hypothesis_parent_ = std::move(hypothesis_parent);
    positions_ = std::move(positions);
    words_.resize(survivors.size());
    for (std::int32_t& word : words_) word = below(random_, vocabulary_);
    frame.begin_step(input());
  }

 private:
  StepInput input() const {
    return {parents_, parent_sentence_, hypothesis_parent_, words_, positions_};
  }

  Random random_;
  std::int64_t vocabulary_ = 1000;
  std::int32_t no_word_ = -1;
  std::vector<WordIds> sentences_, shortlists_;
  RandomFeatures features_{3};
  std::vector<std::int32_t> parents_, parent_sentence_, hypothesis_parent_, words_, positions_;
};

template <typename T>
void record(const Graph& graph, const Interpreter<T>& interpreter, RunResults<T>& trace) {
  for (const Output& output : graph.outputs())
    trace[output.name].push_back(interpreter.value(output.value));
}

template <typename T>
bool agree(T x, T y, double tolerance) {
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
  if (x == y) return tolerance > 0 || std::signbit(x) == std::signbit(y);
  return std::abs(x - y) <= static_cast<T>(tolerance) * std::max({T{1}, std::abs(x), std::abs(y)});
}

/// One program and its interpreter.
template <typename T>
struct Runner {
  Runner(const Graph& program, const TensorMap& weights)
      : graph(program), interpreter(program, weights) {}

  /// Gives the outputs to `later` for its imports.
  void hand_over(Runner& later) const {
    for (const Output& output : graph.outputs())
      later.interpreter.set_import(output.name, interpreter.value(output.value));
  }

  const Graph& graph;
  Interpreter<T> interpreter;
};

Quantizer quantizer_to(DType dtype) {
  return {.to = dtype, .largest = dtype == DType::qlog4 ? 128 : 127};
}

}  // namespace

TensorMap random_weights(const Graph& graph, std::uint64_t seed, bool special) {
  Random random(seed);
  TensorMap weights;
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    if (!node.is<op::Param>()) continue;
    const Type& type = graph.value(node.results[0]).type;
    std::vector<std::int64_t> shape = type.dims;
    const std::int64_t rows = graph.domain(type.domain).size;
    if (rows > 0) shape.insert(shape.begin(), rows);
    Tensor weight(DType::f32, shape);
    std::uniform_real_distribution<float> uniform(-1, 1);
    for (std::int64_t i = 0; i < weight.size(); ++i)
      weight.mutable_data<float>()[i] =
          special && random() % 8 == 0 ? special_number(random) : uniform(random);
    if (is_quantized(type.dtype)) weight = quantized(quantizer_to(type.dtype), weight);
    if (type.dtype == DType::bf16) weight = weight.to_bf16();
    if (type.dtype == DType::f16) weight = weight.to_f16();
    weights.emplace(node.template as<ExternalName>().name, std::move(weight));
  }
  return weights;
}

template <typename T>
RunResults<T> execute(const Graph& graph, const TensorMap& weights, std::uint64_t seed) {
  RowFrame frame(graph);
  Search search(graph, seed);
  Interpreter<T> interpreter(graph, weights);
  RunResults<T> trace;
  interpreter.run(BindingTime::load, frame);
  search.begin(frame);
  interpreter.run(BindingTime::source, frame);
  for (int step = 0; step < kSteps; ++step) {
    if (step > 0) search.advance(frame);
    interpreter.run(BindingTime::step, frame);
    record(graph, interpreter, trace);
  }
  return trace;
}

template <typename T>
RunResults<T> execute(const Programs& programs, const TensorMap& weights, std::uint64_t seed) {
  RowFrame frame(programs.step);
  Search search(programs.step, seed);
  Runner<T> load(programs.load, weights), source(programs.source, weights),
      step(programs.step, weights);
  RunResults<T> trace;
  load.interpreter.run(BindingTime::load, frame);
  load.hand_over(source);
  load.hand_over(step);
  source.interpreter.run(BindingTime::load, frame);
  search.begin(frame);
  source.interpreter.run(BindingTime::source, frame);
  source.hand_over(step);
  step.interpreter.run(BindingTime::load, frame);
  step.interpreter.run(BindingTime::source, frame);
  for (int i = 0; i < kSteps; ++i) {
    if (i > 0) search.advance(frame);
    step.interpreter.run(BindingTime::step, frame);
    for (const Runner<T>* runner : {&load, &source, &step})
      record(runner->graph, runner->interpreter, trace);
  }
  return trace;
}

template <typename T>
std::string difference(const RunResults<T>& a, const RunResults<T>& b, double tolerance) {
  for (const auto& [name, moments] : a) {
    const auto found = b.find(name);
    if (found == b.end()) return fmt::format("output '{}' is missing", name);
    for (std::size_t step = 0; step < moments.size(); ++step) {
      const Array<T>& x = moments[step];
      const Array<T>& y = found->second.at(step);
      if (x.rows != y.rows || x.cols != y.cols)
        return fmt::format("output '{}' is {} x {} and {} x {}", name, x.rows, x.cols, y.rows,
                           y.cols);
      for (std::size_t i = 0; i < x.data.size(); ++i)
        if (!agree(x.data[i], y.data[i], tolerance))
          return fmt::format("output '{}', step {}, element {}: {} and {}", name, step, i,
                             x.data[i], y.data[i]);
    }
  }
  return "";
}

template RunResults<float> execute(const Graph&, const TensorMap&, std::uint64_t);
template RunResults<double> execute(const Graph&, const TensorMap&, std::uint64_t);
template RunResults<float> execute(const Programs&, const TensorMap&, std::uint64_t);
template RunResults<double> execute(const Programs&, const TensorMap&, std::uint64_t);
template std::string difference(const RunResults<float>&, const RunResults<float>&, double);
template std::string difference(const RunResults<double>&, const RunResults<double>&, double);

}  // namespace fuselage
