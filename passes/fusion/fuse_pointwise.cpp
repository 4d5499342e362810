#include "passes/fusion/fuse_pointwise.h"

#include <fmt/format.h>

#include <algorithm>

#include "fuselage/ops/fused/chains.h"
#include "graph/schedule.h"
#include "passes/fusion/elementwise.h"

namespace fuselage {
namespace {

constexpr Capture kInner{"inner"};

std::optional<std::string> other_rows(const Match& match) {
  const Graph& graph = match.graph();
  const DomainId inner = match.type(kInner).domain;
  if (inner == match.result_type().domain) return std::nullopt;
  return fmt::format("{} is {} and would be computed again for the rows of {}",
                     graph.describe(match.node(kInner)), graph.show(match.type(kInner)),
                     graph.show(match.result_type()));
}

std::optional<std::string> other_width(const Match& match) {
  const Type& inner = match.type(kInner);
  if (inner.dims == match.result_type().dims) return std::nullopt;
  return fmt::format("{} is {}, not as wide as {}", match.graph().describe(match.node(kInner)),
                     match.graph().show(inner), match.graph().show(match.result_type()));
}

std::optional<std::string> without_row_function(const Match& match) {
  if (auto reason = refuse_in_chain(match.graph(), match.root_node())) return reason;
  return refuse_in_chain(match.graph(), match.node(kInner));
}

std::optional<std::string> too_long(const Match& match) {
  return refuse_length(match.graph(), match.root_node(), match.node(kInner));
}

/// Whether another user of the inner node leads to the root: fusion would make a cycle.
bool leads_to_root(const Match& match) {
  const Graph& graph = match.graph();
  const NodeId inner = graph.value(match[kInner]).producer;
  const std::vector<bool> follows = followers(graph, inner);
  const auto& operands = match.root_node().operands;
  return std::any_of(operands.begin(), operands.end(),
                     [&](ValueId operand) { return follows[graph.value(operand).producer.index]; });
}

std::optional<std::string> in_a_cycle(const Match& match) {
  if (!leads_to_root(match)) return std::nullopt;
  return fmt::format("other users of {} come before it",
                     match.graph().describe(match.node(kInner)));
}

void fuse_chain(Rewriter& rewriter, const Match& match) {
  const Graph& graph = match.graph();
  const Node& root = match.root_node();
  const Node& inner = match.node(kInner);
  std::vector<ValueId> kept;
  for (const ValueId result : inner.results) {
    const auto& uses = graph.value(result).uses;
    if (graph.is_output(result) || std::any_of(uses.begin(), uses.end(), [&](const Use& use) {
          return use.node != match.root();
        }))
      kept.push_back(result);
  }
  const BoundExpression whole = inline_expression(graph, bind_expression(graph, root), inner, kept);
  const NodeId fused = rewriter.add_node(
      op::Pointwise{.expression = print_expression(whole.expression)}, whole.operands);
  std::vector<ValueId> replaced = root.results;
  replaced.insert(replaced.end(), kept.begin(), kept.end());
  for (std::size_t i = 0; i < replaced.size(); ++i)
    rewriter.replace(replaced[i], graph.result(fused, i));
}

Rule chain() {
  return {
      .name = "chain",
      .pattern =
          match::node(is_elementwise).having(match::node(is_elementwise).named(kInner).shared()),
      .guards = {{"same_rows", other_rows},
                 {"same_width", other_width},
                 {"row_function", without_row_function},
                 {"size", too_long},
                 {"acyclic", in_a_cycle}},
      .build = fuse_chain};
}

}  // namespace

Pass fuse_pointwise() { return {.name = "fuse_pointwise", .rules = {chain()}}; }

}  // namespace fuselage
