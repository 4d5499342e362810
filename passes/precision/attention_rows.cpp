#include "passes/precision/attention_rows.h"

#include <fmt/format.h>

#include <utility>

#include "fuselage/ops/fused/attention.h"

namespace fuselage {

Pattern attention_of_floats() {
  const auto of_floats = [](const Graph& graph, const Node& attention) {
    return graph.value(attention.operands[1]).type.dtype == DType::f32 &&
           graph.value(attention.operands[2]).type.dtype == DType::f32;
  };
  return match::op<op::DotAttention>(
             {match::any(kAttendingRows), match::any(kKeyRows), match::any(kValueRows)})
      .variadic()
      .where(of_floats);
}

void replace_rows(Rewriter& rewriter, const Node& root, std::vector<ValueId> rows) {
  rows.insert(rows.end(), root.operands.begin() + std::ssize(rows), root.operands.end());
  const NodeId replaced = rewriter.clone(root, std::move(rows));
  for (std::size_t i = 0; i < root.results.size(); ++i)
    rewriter.replace(root.results[i], rewriter.graph().result(replaced, i));
}

std::optional<std::string> read_once(const Match& match) {
  const Graph& graph = match.graph();
  const auto left = match.root_node().as<op::PairMembers>().left;
  const Domain& domain = graph.domain(graph.map(left.front()).to);
  if (domain.binding == BindingTime::step) return std::nullopt;
  return fmt::format("all rows of '{}' attend at once, so its keys are not read again",
                     domain.name);
}

}  // namespace fuselage
