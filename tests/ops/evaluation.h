#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fuselage/ops/evaluate.h"
#include "graph/traversal.h"
#include "tests/graph/support.h"

namespace fuselage {

/// Values over kDomains that the tests of ops share. Each is a param or import of its own name.
inline constexpr std::string_view kInputs = R"(
%v = param() {name = "v", dims = [2]}
%v4 = param() {name = "v4", dims = [4]}
%s = constant() {values = [2]}
%m = param() {name = "m", dims = [2, 3]}
%e = param() {name = "e", domain = vocab, dims = [2]}
%h = import() {name = "h", domain = hyp, dims = [2]}
%h1 = import() {name = "h1", domain = hyp, dims = [1]}
%h4 = import() {name = "h4", domain = hyp, dims = [4]}
%h5 = import() {name = "h5", domain = hyp, dims = [5]}
%h22 = import() {name = "h22", domain = hyp, dims = [2, 2]}
%hs = import() {name = "hs", domain = hyp, dims = []}
%hi = import() {name = "hi", domain = hyp, dims = [], dtype = i32}
%p = import() {name = "p", domain = parent, dims = [2]}
%sent = import() {name = "sent", domain = sentence, dims = [2]}
%x = import() {name = "x", domain = source, dims = [2]}
%x4 = import() {name = "x4", domain = source, dims = [4]}
%f = import() {name = "f", domain = fwd, dims = [2]}
%c = import() {name = "c", domain = cross, dims = [2]}
%c4 = import() {name = "c4", domain = cross, dims = [4]}
%d4 = import() {name = "d4", domain = cross, dims = [4]}
)";

/// A graph of lines over kInputs.
inline Graph over_inputs(std::string_view equation) {
  return graph_of(std::string(kInputs) + std::string(equation) + "\n");
}

/// Three sentences of two, one and no tokens; the first has two hypotheses, the others one each.
/// Parents stand in another order than sentences.
inline RowTable test_rows(const Graph& graph) {
  RowTable rows(graph);
  const auto domain = [&](const char* name, std::int64_t count) -> RowTable::DomainRows& {
    RowTable::DomainRows& found = rows.domain(graph.find_domain(name));
    found.rows = count;
    return found;
  };
  const auto map = [&](const char* name, std::vector<std::int32_t> index,
                       std::vector<std::int32_t> segments = {}) {
    rows.map(graph.find_map(name)) = {std::move(index), std::move(segments)};
  };
  domain("sentence", 3);
  static const std::vector<float> frames{1, 2, 3, 4, 5, 6};
  if (graph.find_input("frames")) rows.set_input(0, frames);
  domain("source", 3).positions = {0, 1, 0};
  domain("fwd", 2);
  domain("bwd", 2);
  domain("parent", 3);
  domain("hyp", 4).positions = {3, 3, 0, 7};
  domain("cross", 5);
  domain("self", 5);
  map("source.sentence", {0, 0, 1}, {0, 2, 3, 3});
  map("source.word", {1, 0, 3});
  map("fwd.source", {0, 2});
  map("bwd.source", {1, 2});
  map("parent.sentence", {1, 0, 2});
  map("hyp.parent", {1, 1, 0, 2});
  map("hyp.word", {2, -1, 4, 0});
  map("cross.left", {0, 0, 1, 1, 2}, {0, 2, 4, 5, 5});
  map("cross.right", {0, 1, 0, 1, 2});
  map("self.left", {0, 0, 1, 1, 2}, {0, 2, 4, 5});
  map("self.right", {0, 1, 0, 1, 2});
  return rows;
}

using Inputs = std::map<std::string, std::vector<double>>;

/// All results of `root`, by the reference evaluations of what it depends on.
template <typename T>
std::vector<Array<T>> evaluate(const Graph& graph, const RowTable& rows, const Inputs& inputs,
                               NodeId root) {
  std::vector<Array<T>> values(graph.value_limit());
  const std::vector<bool> needed = reachable(graph, {root});
  for (const NodeId id : topological_order(graph)) {
    if (!needed[id.index]) continue;
    const Node& node = graph.node(id);
    EvalContext<T> context{graph, node, rows, {}, {}};
    for (const ValueId operand : node.operands) context.operands.push_back(&values[operand.index]);
    for (const ValueId result : node.results) {
      const Type& type = graph.value(result).type;
      context.results.emplace_back(rows.rows(type.domain), row_size(type));
    }
    if (node.has(Trait::external)) {
      const std::vector<double>& input = inputs.at(node.as<ExternalName>().name);
      check(input.size() == context.results[0].data.size(), "a test input has another size");
      std::copy(input.begin(), input.end(), context.results[0].data.begin());
    } else if constexpr (std::is_same_v<T, float>) {
      node.op->evaluate_f32(context);
    } else {
      node.op->evaluate_f64(context);
    }
    for (std::size_t i = 0; i < node.results.size(); ++i)
      values[node.results[i].index] = std::move(context.results[i]);
  }
  std::vector<Array<T>> results;
  for (const ValueId result : graph.node(root).results) results.push_back(values[result.index]);
  return results;
}

}  // namespace fuselage
