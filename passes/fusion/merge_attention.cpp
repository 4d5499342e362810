#include "passes/fusion/merge_attention.h"

#include <fmt/format.h>

#include <algorithm>

#include "fuselage/ops/fused/attention.h"
#include "fuselage/ops/precision/quantize.h"
#include "fuselage/ops/structure/rows.h"

namespace fuselage {
namespace {

constexpr Capture kQuery{"query"};

/// The first map of the query's selection path.
const RowMap& crossed(const Match& match) {
  return match.graph().map(match.node(kQuery).as<op::SelectRows>().via.front());
}

DomainId pairs_of(const Match& match) {
  return match.graph().map(match.root_node().as<op::PairMembers>().left.front()).from;
}

std::optional<std::string> needs_weights(const Match& match) {
  const Graph& graph = match.graph();
  const ValueId weights = match.result();
  if (graph.is_output(weights)) return "its weights are an output for each pair";
  if (graph.value(weights).uses.empty()) return std::nullopt;
  return fmt::format("{} reads its weights for each pair",
                     graph.describe(graph.value(weights).uses.front().node));
}

/// Refuses prefixes: a hypothesis and its parent have different words.
std::optional<std::string> of_prefixes(const Match& match) {
  const Graph& graph = match.graph();
  const Domain& attended = graph.domain(graph.domain(pairs_of(match)).right);
  if (attended.kind == DomainKind::source) return std::nullopt;
  return fmt::format("each row of '{}' attends to its own rows of '{}'",
                     graph.domain(crossed(match).from).name, attended.name);
}

std::optional<std::string> in_windows(const Match& match) {
  const Domain& pairs = match.graph().domain(pairs_of(match));
  if (pairs.window.has_all()) return std::nullopt;
  return fmt::format("each row of '{}' attends within its own window in '{}'",
                     match.graph().domain(crossed(match).from).name, pairs.name);
}

std::optional<std::string> has_bias(const Match& match) {
  const Node& root = match.root_node();
  const Graph& graph = match.graph();
  for (const ValueId operand : root.operands)
    if (graph.value(operand).type.domain == pairs_of(match))
      return fmt::format("{} is added to its scores, for each pair of '{}'",
                         graph.describe(graph.producer(operand)),
                         graph.domain(crossed(match).from).name);
  return std::nullopt;
}

std::optional<std::string> has_default(const Match& match) {
  if (match.node(kQuery).operands.size() == 1 && !crossed(match).partial) return std::nullopt;
  return "some queries are a default row";
}

std::optional<std::string> not_fewer(const Match& match, const Workload& workload) {
  const Graph& graph = match.graph();
  const RowMap& map = crossed(match);
  if (!graph.sentences_of(map.to).valid())
    return fmt::format("rows of '{}' belong to no sentence", graph.domain(map.to).name);
  const double here = expected_rows(graph, map.from, workload);
  const double there = expected_rows(graph, map.to, workload);
  if (there < here) return std::nullopt;
  return fmt::format("'{}' has {:.3g} rows a sentence, no fewer than the {:.3g} of '{}'",
                     graph.domain(map.to).name, there, here, graph.domain(map.from).name);
}

/// The pairs domain of two domains; declared if the graph has none.
DomainId find_or_add_pairs(Rewriter& rewriter, DomainId left, DomainId right) {
  const Graph& graph = rewriter.graph();
  for (std::uint32_t i = 0; i < graph.domain_count(); ++i) {
    const Domain& domain = graph.domain(DomainId{i});
    if (domain.kind == DomainKind::pairs && domain.left == left && domain.right == right &&
        domain.window.has_all())
      return DomainId{i};
  }
  std::string name = graph.domain(left).name + "_" + graph.domain(right).name;
  while (graph.find_domain(name).valid()) name += "_";
  return rewriter.add_pairs(std::move(name), left, right);
}

void attend_once_per_parent(Rewriter& rewriter, const Match& match) {
  const Graph& graph = match.graph();
  const Node& root = match.root_node();
  const Node& select = match.node(kQuery);
  const ValueId mixture = root.results[1];
  const auto via = select.as<op::SelectRows>().via;
  const MapPath outer{via.front()};
  const MapPath inner(via.begin() + 1, via.end());
  const DomainId pairs =
      find_or_add_pairs(rewriter, graph.map(via.front()).to, graph.domain(pairs_of(match)).right);

  std::vector<ValueId> operands = root.operands;
  operands[0] = inner.empty() ? select.operands[0]
                              : rewriter.add(op::SelectRows{.via = inner}, select.operands);
  auto paths = root.as<op::PairMembers>();
  for (MapPath* path : {&paths.left, &paths.right})
    path->front() = graph.map_of(pairs, graph.map(path->front()).kind);
  const NodeId merged = rewriter.clone(root, std::move(operands), paths);
  rewriter.replace(mixture, rewriter.add(op::SelectRows{.via = outer}, {graph.result(merged, 1)}));
}

}  // namespace

Pass merge_attention(const Workload& workload) {
  Pattern query = match::op<op::SelectRows>().named(kQuery).shared();
  return {.name = "merge_attention",
          .rules = {
              {.name = "attention_of_parents",
               .pattern = match::op<op::AdditiveAttention, op::DotAttention>({std::move(query)})
                              .variadic()
                              .where([](const Graph&, const Node& node) {
                                return quantized_results(node).empty();
                              }),
               .guards = {{"weights_unused", needs_weights},
                          {"source_rows", of_prefixes},
                          {"same_pairs", in_windows},
                          {"no_bias", has_bias},
                          {"no_default", has_default},
                          {"fewer_rows",
                           [workload](const Match& match) { return not_fewer(match, workload); }}},
               .build = attend_once_per_parent}}};
}

}  // namespace fuselage
