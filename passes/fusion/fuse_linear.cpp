#include "passes/fusion/fuse_linear.h"

#include <fmt/format.h>

#include "fuselage/ops/arithmetic/matmul.h"
#include "fuselage/ops/fused/chains.h"
#include "passes/fusion/elementwise.h"

namespace fuselage {
namespace {

constexpr Capture kOfProduct{"product"};

std::optional<std::string> refuse_epilogue(const Match& match) {
  return refuse_in_chain(match.graph(), match.root_node());
}

/// Kernels compute the expression on the columns of the matrix, which are then part of a row.
std::optional<std::string> several_vectors(const Match& match) {
  const Graph& graph = match.graph();
  const Type& x = graph.value(match.node(kOfProduct).operands[0]).type;
  if (x.dims.size() == 1) return std::nullopt;
  return fmt::format("{} multiplies {}, several vectors a row",
                     graph.describe(match.node(kOfProduct)), graph.show(x));
}

void fuse_epilogue(Rewriter& rewriter, const Match& match) {
  const Graph& graph = match.graph();
  const Node& root = match.root_node();
  const Node& product = match.node(kOfProduct);
  const BoundExpression bound = with_first_operand(bind_expression(graph, root), match[kOfProduct]);
  std::vector<ValueId> operands = product.operands;
  operands.insert(operands.end(), bound.operands.begin() + 1, bound.operands.end());
  const NodeId fused =
      rewriter.add_node(op::Linear{.transposed = product.as<op::Matmul>().transposed,
                                   .expression = print_expression(bound.expression)},
                        std::move(operands));
  for (std::size_t i = 0; i < root.results.size(); ++i)
    rewriter.replace(root.results[i], graph.result(fused, i));
}

}  // namespace

Pass fuse_linear() {
  return {
      .name = "fuse_linear",
      .rules = {
          {.name = "epilogue",
           .pattern = match::node(is_elementwise).having(match::op<op::Matmul>().named(kOfProduct)),
           .guards = {same_rows(),
                      several_columns(kOfProduct, "so it is a dot product a row"),
                      {"one_vector", several_vectors},
                      {"row_function", refuse_epilogue}},
           .build = fuse_epilogue}}};
}

}  // namespace fuselage
