#include "passes/motion/narrow_slices.h"

#include <fmt/format.h>

#include <algorithm>

#include "fuselage/ops/structure/shape.h"

namespace fuselage {
namespace {

constexpr Capture kChain{"chain"};

/// All users of the chain are slices of different columns.
std::optional<std::string> not_only_slices(const Match& match) {
  const Graph& graph = match.graph();
  const Value& chain = graph.value(match[kChain]);
  if (graph.is_output(match[kChain])) return "the whole value is an output of the graph";
  std::vector<std::pair<std::int64_t, std::int64_t>> ranges;
  for (const Use& use : chain.uses) {
    const Node& user = graph.node(use.node);
    if (user.op != match.root_node().op)
      return fmt::format("{} reads the whole value", graph.describe(use.node));
    ranges.emplace_back(user.as<op::Range>().begin, user.as<op::Range>().end);
  }
  std::sort(ranges.begin(), ranges.end());
  for (std::size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i].first < ranges[i - 1].second)
      return fmt::format("columns {} to {} would be computed twice", ranges[i].first,
                         ranges[i - 1].second);
  return std::nullopt;
}

void narrow_chain(Rewriter& rewriter, const Match& match) {
  const Graph& graph = match.graph();
  const Node& slice = match.root_node();
  const Node& chain = match.node(kChain);
  std::vector<ValueId> operands = chain.operands;
  for (ValueId& operand : operands)
    if (row_size(graph.value(operand).type) != 1)
      operand = rewriter.add(
          op::Slice{.begin = slice.as<op::Range>().begin, .end = slice.as<op::Range>().end},
          {operand});
  const NodeId narrowed = rewriter.clone(chain, std::move(operands));
  rewriter.replace(match.result(), graph.result(narrowed));
}

Rule narrow() {
  const auto vector_chain = [](const Graph& graph, const Node& node) {
    return node.has(Trait::elementwise) && node.results.size() == 1 &&
           graph.value(node.results[0]).type.dims.size() == 1;
  };
  // A slice of one column could not be told from an operand that is broadcast over the columns.
  const auto several_columns = [](const Graph& graph, const Node& node) {
    return row_size(graph.value(node.results[0]).type) > 1;
  };
  return {.name = "narrow",
          .pattern = match::op<op::Slice>({match::node(vector_chain).named(kChain).shared()})
                         .where(several_columns),
          .guards = {{"only_slices", not_only_slices}},
          .build = narrow_chain};
}

}  // namespace

Pass narrow_slices() { return {.name = "narrow_slices", .rules = {narrow()}}; }

}  // namespace fuselage
