#include "passes/fuse_output.h"

#include <fmt/format.h>

namespace fuselage {
namespace {

Pattern product() {
  return match::op("matmul", {match::any("x"), match::any("w")}).named("product");
}

Pattern biased_product() {
  return match::op("add", {product(), match::any("bias")}).either_order();
}

/// An element for each column, known before there are rows.
Guard bias_of_columns() {
  const auto refuse = [](const Match& match) -> std::optional<std::string> {
    const Graph& graph = match.graph();
    const Type& bias = match.type("bias");
    const Dims& columns = match.type("product").dims;
    if (bias.domain == graph.none() && bias.dims == columns) return std::nullopt;
    return fmt::format("what is added is {} and not {}, the same for all rows", graph.show(bias),
                       graph.show({DType::f32, graph.none(), columns}));
  };
  return {"bias_of_columns", refuse};
}

/// A rule for the k best of `pattern`, which is a product under a bias or log-softmax or none.
Rule rule(std::string name, Pattern pattern, bool has_bias, bool log_softmax) {
  const auto build = [has_bias, log_softmax](Rewriter& rewriter, const Match& match) {
    const NodeId root = match.root();
    std::vector<ValueId> operands{match["x"], match["w"]};
    if (has_bias) operands.push_back(match["bias"]);
    const NodeId fused =
        rewriter.add_node("linear_k_best", std::move(operands),
                          {{"k", match.root_node().attr<std::int64_t>("k")},
                           {"transposed", match.node("product").attr<bool>("transposed")},
                           {"log_softmax", log_softmax}});
    for (std::size_t i = 0; i < 2; ++i)
      rewriter.replace(rewriter.graph().result(root, i), rewriter.graph().result(fused, i));
  };
  Rule made{.name = std::move(name),
            .pattern = match::op("k_best", {std::move(pattern)}),
            .build = build};
  if (has_bias) made.guards.push_back(bias_of_columns());
  if (log_softmax)
    made.numerics = {NumericClass::reassociates, 0,
                     "log-probabilities that rounding made equal stay in the order of the logits"};
  return made;
}

}  // namespace

Pass fuse_output() {
  using match::op;
  return {.name = "fuse_output",
          .rules = {rule("biased_scores", op("log_softmax", {biased_product()}), true, true),
                    rule("scores", op("log_softmax", {product()}), false, true),
                    rule("biased_logits", biased_product(), true, false),
                    rule("logits", product(), false, false)}};
}

}  // namespace fuselage
