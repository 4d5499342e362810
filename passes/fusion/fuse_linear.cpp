#include "passes/fusion/fuse_linear.h"

#include "passes/fusion/elementwise.h"

namespace fuselage {
namespace {

std::optional<std::string> one_column(const Match& match) {
  if (match.type("product").dims.back() != 1) return std::nullopt;
  return "its matrix has one column, so it is a dot product a row";
}

void fuse(Rewriter& rewriter, const Match& match) {
  const Graph& graph = match.graph();
  const Node& root = match.root_node();
  const Node& product = match.node("product");
  const BoundExpression bound = with_first_operand(bind_expression(graph, root), match["product"]);
  std::vector<ValueId> operands = product.operands;
  operands.insert(operands.end(), bound.operands.begin() + 1, bound.operands.end());
  const NodeId fused = rewriter.add_node("linear", std::move(operands),
                                         {{"transposed", product.attr<bool>("transposed")},
                                          {"expression", print_expression(bound.expression)}});
  for (std::size_t i = 0; i < root.results.size(); ++i)
    rewriter.replace(root.results[i], graph.result(fused, i));
}

}  // namespace

Pass fuse_linear() {
  return {.name = "fuse_linear",
          .rules = {
              {.name = "epilogue",
               .pattern = match::node(is_elementwise).having(match::op("matmul").named("product")),
               .guards = {same_rows(), {"several_columns", one_column}},
               .build = fuse}}};
}

}  // namespace fuselage
