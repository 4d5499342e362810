#include "fuselage/backends/compare_with_reference.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "fuselage/backends/compile.h"
#include "fuselage/base/quantized.h"
#include "fuselage/graph/verifier.h"
#include "fuselage/ops/structure/loop.h"
#include "fuselage/passes/lowering/split_by_binding_time.h"
#include "fuselage/passes/rewrite/rewriter.h"
#include "graph/traversal.h"
#include "graph/weights.h"

namespace fuselage {
namespace {

/// The nodes of an optimized graph in program order, whose results are made outputs.
class ShownNodes {
 public:
  explicit ShownNodes(const Graph& graph) : graph_(graph), shown_(graph) {
    shown_.clear_outputs();
    for (const BindingTime time : {BindingTime::load, BindingTime::source, BindingTime::step})
      for (const NodeId id : topological_order(graph))
        if (graph.binding(id) == time) show(id);
  }

  const Graph& graph() const { return shown_; }
  NodeId node(std::size_t output) const { return nodes_[output]; }
  std::size_t count() const {
    return std::set<std::uint32_t>(indexes_.begin(), indexes_.end()).size();
  }
  std::size_t skipped() const { return skipped_; }

 private:
  void show(NodeId id) {
    const Node& node = graph_.node(id);
    if (node.operands.empty() || node.results.empty()) return;
    const bool readable = std::all_of(node.results.begin(), node.results.end(), [&](ValueId value) {
      const Type& type = graph_.value(value).type;
      const DomainKind kind = graph_.domain(type.domain).kind;
      return (type.dtype == DType::f32 || type.dtype == DType::i32) && kind != DomainKind::scan &&
             kind != DomainKind::prefix;
    });
    if (!readable) {
      ++skipped_;
      return;
    }
    for (const ValueId value : node.results) {
      shown_.add_output(fmt::format("result.{}", nodes_.size()), value);
      nodes_.push_back(id);
      indexes_.push_back(id.index);
    }
  }

  const Graph& graph_;
  Graph shown_;
  std::vector<NodeId> nodes_;  ///< by output
  std::vector<std::uint32_t> indexes_;
  std::size_t skipped_ = 0;
};

double element(const Tensor& tensor, std::int64_t i) {
  return tensor.dtype() == DType::f32 ? tensor.data<float>()[i]
                                      : static_cast<double>(tensor.data<std::int32_t>()[i]);
}

/// Largest difference of a result, and of the root mean square of all results of a node.
struct Tolerance {
  double largest;
  double rms = std::numeric_limits<double>::infinity();
};

/// The tolerance of each node.
class Tolerances {
 public:
  Tolerances(const Graph& graph, const CompileOptions& options, const NodeTolerances& tolerances)
      : graph_(graph), tolerances_(tolerances) {
    for (const Pass& pass : make_optimizer(options).passes)
      for (const Rule& rule : pass.rules) rules_.emplace(rule.name, rule.numerics.kind);
    while (propagate()) {
    }
  }

  Tolerance of(NodeId id) const {
    const auto found = classes_.find(id);
    switch (found == classes_.end() ? NumericClass::exact : found->second) {
      case NumericClass::quantizes:
        return {tolerances_.quantization, tolerances_.quantization_rms};
      case NumericClass::approximates:
        return {tolerances_.approximation};
      default:
        return {tolerances_.rounding};
    }
  }

 private:
  /// Once more for each loop around which a class is carried. Returns whether a class changed.
  bool propagate() {
    bool changed = false;
    const auto raise = [&](NodeId id, NumericClass to) {
      NumericClass& kind = classes_.try_emplace(id, NumericClass::exact).first->second;
      if (to <= kind) return;
      kind = to;
      changed = true;
    };
    for (const NodeId id : topological_order(graph_)) {
      const Node& node = graph_.node(id);
      raise(id, own_class(id));
      for (const ValueId operand : node.operands)
        raise(id, classes_.at(graph_.value(operand).producer));
      if (node.is<op::Next>()) raise(graph_.value(node.operands[0]).producer, classes_.at(id));
    }
    return changed;
  }

  NumericClass own_class(NodeId id) const {
    const Node& node = graph_.node(id);
    if (graph_.binding(id) != BindingTime::load)
      for (const ValueId result : node.results)
        if (const DType type = graph_.value(result).type.dtype;
            is_quantized(type) || type == DType::bf16)
          return NumericClass::quantizes;
    NumericClass kind = NumericClass::exact;
    for (const std::string& rule : node.provenance.rules)
      if (const auto found = rules_.find(rule); found != rules_.end())
        kind = std::max(kind, found->second);
    return kind;
  }

  const Graph& graph_;
  NodeTolerances tolerances_;
  std::map<std::string, NumericClass> rules_;
  std::map<NodeId, NumericClass> classes_;
};

/// The difference of two numbers, relative to the larger one and 1; infinity where only one is a
/// number.
double relative_difference(double x, double y) {
  if (x == y || (std::isnan(x) && std::isnan(y))) return 0;
  const double difference = std::abs(x - y) / std::max({1.0, std::abs(x), std::abs(y)});
  return std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference;
}

/// The element with the largest difference if the tensors differ by more than the tolerance, or
/// else -1.
std::int64_t largest_difference(const Tensor& a, const Tensor& b, const Tolerance& tolerance) {
  const bool is_float = a.dtype() == DType::f32;
  std::int64_t at = -1;
  double largest = 0, squares = 0, differences = 0;
  for (std::int64_t i = 0; i < a.size(); ++i) {
    const double x = element(a, i), y = element(b, i);
    squares += y * y;
    differences += (x - y) * (x - y);
    if (const double difference = relative_difference(x, y); difference > largest) {
      largest = difference;
      at = i;
    }
  }
  constexpr double kLeastRms = 1e-3;
  const auto size = static_cast<double>(std::max<std::int64_t>(a.size(), 1));
  const double rms = std::sqrt(differences / size) / std::max(std::sqrt(squares / size), kLeastRms);
  return largest > (is_float ? tolerance.largest : 0) || (is_float && rms > tolerance.rms) ? at
                                                                                           : -1;
}

NodeDifference describe(const Graph& graph, NodeId id, const NamedRows& value,
                        const NamedRows& reference, std::int64_t at, std::int64_t columns) {
  NodeDifference found{.node = graph.describe(id),
                       .origins = fmt::format("{}", fmt::join(origins_of(graph, id), ", ")),
                       .rules = fmt::format("{}", fmt::join(graph.node(id).provenance.rules, ", ")),
                       .sentence = 0,
                       .row = at / columns,
                       .column = at % columns,
                       .value = element(value.values, at),
                       .reference = element(reference.values, at)};
  for (const std::int32_t length : value.lengths) {
    if (found.row < length) break;
    found.row -= length;
    ++found.sentence;
  }
  return found;
}

}  // namespace

NodeComparison compare_with_reference(Graph graph, const TensorMap& weights,
                                      const CompileOptions& options,
                                      std::span<const NamedRows> inputs,
                                      const NodeTolerances& tolerances, std::size_t mini_batch) {
  verify(graph);
  expect_weights(graph, weights);
  optimize(graph, options);
  const ShownNodes nodes(graph);
  const Tolerances by_node(graph, options, tolerances);
  CompileOptions reference = options;
  reference.backend = "reference";
  reference.cuda = {};
  reference.threads_per_sentence = 1;
  reference.weights_cache.clear();
  const auto run = [&](const CompileOptions& with) {
    return GraphRunner::without_passes(nodes.graph(), weights, with).run(inputs, mini_batch);
  };
  const std::vector<NamedRows> values = run(options), expected = run(reference);
  NodeComparison result{.compared = nodes.count(), .skipped = nodes.skipped()};
  std::set<std::uint32_t> equal;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const NodeId id = nodes.node(i);
    const std::int64_t at =
        largest_difference(values[i].values, expected[i].values, by_node.of(id));
    if (at >= 0) {
      const ValueId shown = nodes.graph().outputs()[i].value;
      equal.erase(id.index);
      result.compared = equal.size();
      result.difference = describe(graph, id, values[i], expected[i], at,
                                   std::max<std::int64_t>(row_size(graph.value(shown).type), 1));
      break;
    }
    equal.insert(id.index);
  }
  return result;
}

}  // namespace fuselage
