#include "fuselage/backends/compare_with_reference.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>
#include <vector>

#include "fuselage/backends/compile.h"
#include "fuselage/graph/verifier.h"
#include "fuselage/passes/lowering/split_by_binding_time.h"
#include "fuselage/passes/rewrite/rewriter.h"
#include "graph/traversal.h"

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

/// The first element that differs, or -1.
std::int64_t first_difference(const Tensor& a, const Tensor& b, double tolerance) {
  const bool is_float = a.dtype() == DType::f32;
  for (std::int64_t i = 0; i < a.size(); ++i) {
    if (!is_float) {
      if (a.data<std::int32_t>()[i] != b.data<std::int32_t>()[i]) return i;
      continue;
    }
    const double x = a.data<float>()[i], y = b.data<float>()[i];
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    if (!(std::abs(x - y) <= tolerance * std::max({1.0, std::abs(x), std::abs(y)}))) return i;
  }
  return -1;
}

double element(const Tensor& tensor, std::int64_t i) {
  return tensor.dtype() == DType::f32 ? tensor.data<float>()[i]
                                      : static_cast<double>(tensor.data<std::int32_t>()[i]);
}

NodeDifference describe(const Graph& graph, NodeId id, const NamedRows& value,
                        const NamedRows& reference, std::int64_t at, std::int64_t columns) {
  NodeDifference found{.node = graph.describe(id),
                       .origins = fmt::format("{}", fmt::join(origins_of(graph, id), ", ")),
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
                                      std::span<const NamedRows> inputs, double tolerance,
                                      std::size_t mini_batch) {
  verify(graph);
  optimize(graph, options);
  const ShownNodes nodes(graph);
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
    const std::int64_t at = first_difference(values[i].values, expected[i].values, tolerance);
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
