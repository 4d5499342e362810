#include "passes/motion/append_products.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "fuselage/ops/arithmetic/matmul.h"
#include "fuselage/ops/structure/loop.h"

namespace fuselage {
namespace {

constexpr Capture kNewRows{"x"}, kFactor{"w"}, kAppended{"history"};

// --- Products ---

/// Products of the rows that share one matrix for all of them.
bool is_product_of(const Graph& graph, const Use& use) {
  const Node& node = graph.node(use.node);
  return use.operand == 0 && node.is<op::Matmul>() && !node.as<op::Matmul>().transposed &&
         graph.value(node.operands[1]).type.domain == graph.none();
}

std::optional<std::string> not_a_shared_matrix(const Match& match) {
  const Graph& graph = match.graph();
  if (match.type(kFactor).domain == graph.none() && !match.root_node().as<op::Matmul>().transposed)
    return std::nullopt;
  return fmt::format("the columns of {}{} cannot stand beside those of others",
                     graph.show(match.type(kFactor)),
                     match.root_node().as<op::Matmul>().transposed ? " transposed" : "");
}

std::optional<std::string> no_other_product(const Match& match) {
  const Graph& graph = match.graph();
  const auto& uses = graph.value(match[kNewRows]).uses;
  if (std::ranges::any_of(uses, [&](const Use& use) { return is_product_of(graph, use); }))
    return std::nullopt;
  return fmt::format("{} has no other product that it could be merged with",
                     graph.describe(graph.producer(match[kNewRows])));
}

void multiply_before(Rewriter& rewriter, const Match& match) {
  const ValueId product = rewriter.apply(match.root_node(), {match[kNewRows], match[kFactor]});
  rewriter.replace(match.result(), rewriter.apply(match.node(kAppended), {product}));
}

// --- Elementwise ops ---

bool is_of_one_result(const Graph&, const Node& node) {
  return node.has(Trait::elementwise) && node.results.size() == 1;
}

std::optional<std::string> other_operand_with_rows(const Match& match) {
  const Graph& graph = match.graph();
  for (const ValueId operand : match.root_node().operands)
    if (operand != match[kAppended] && graph.value(operand).type.domain != graph.none())
      return fmt::format("{} is {}, with rows of its own", graph.describe(graph.producer(operand)),
                         graph.show(graph.value(operand).type));
  return std::nullopt;
}

void compute_before(Rewriter& rewriter, const Match& match) {
  std::vector<ValueId> operands = match.root_node().operands;
  std::ranges::replace(operands, match[kAppended], match.node(kAppended).operands[0]);
  const ValueId computed = rewriter.apply(match.root_node(), std::move(operands));
  rewriter.replace(match.result(), rewriter.apply(match.node(kAppended), {computed}));
}

}  // namespace

Pass append_products() {
  using match::any, match::op;
  return {
      .name = "append_products",
      .rules = {
          {.name = "products_before_history",
           .pattern = op<op::Matmul>(
               {op<op::History>({any(kNewRows)}).named(kAppended).shared(), any(kFactor)}),
           .guards = {{"plain_matrix", not_a_shared_matrix}, {"sibling", no_other_product}},
           .build = multiply_before},
          {.name = "elements_before_history",
           .pattern = match::node(is_of_one_result)
                          .having(op<op::History>({op<op::Matmul>().shared()}).named(kAppended)),
           .guards = {{"same_for_all_rows", other_operand_with_rows}},
           .build = compute_before}}};
}

}  // namespace fuselage
