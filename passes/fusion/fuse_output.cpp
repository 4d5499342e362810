#include "passes/fusion/fuse_output.h"

#include <fmt/format.h>

namespace fuselage {
namespace {

Pattern product() {
  return match::op("matmul", {match::any("x"), match::any("w")}).named("product");
}

Pattern biased_product() { return match::op("add", {product(), match::any("bias")}).commutative(); }

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

using Attributes = AttrList;

/// Which of the parts that a search may or may not ask for stand between the product and its best.
struct Parts {
  bool bias = false;
  bool log_softmax = false;
};

/// Puts `op` of the product's operands in the place of root and product.
void fuse(Rewriter& rewriter, const Match& match, std::string_view op, Parts parts,
          Attributes attrs) {
  const NodeId root = match.root();
  std::vector<ValueId> operands{match["x"], match["w"]};
  if (parts.bias) operands.push_back(match["bias"]);
  attrs.insert(attrs.end(), {{"k", match.root_node().attr<std::int64_t>("k")},
                             {"transposed", match.node("product").attr<bool>("transposed")},
                             {"log_softmax", parts.log_softmax}});
  const NodeId fused = rewriter.add_node(op, std::move(operands), attrs);
  for (std::size_t i = 0; i < 2; ++i)
    rewriter.replace(rewriter.graph().result(root, i), rewriter.graph().result(fused, i));
}

Pattern logits(Parts parts) { return parts.bias ? biased_product() : product(); }

/// The k best of all words.
Rule best_words(std::string name, Parts parts) {
  Pattern scores = logits(parts);
  if (parts.log_softmax) scores = match::op("log_softmax", {std::move(scores)});
  const auto build = [parts](Rewriter& rewriter, const Match& match) {
    fuse(rewriter, match, "linear_k_best", parts, {});
  };
  Rule made{
      .name = std::move(name), .pattern = match::op("k_best", {std::move(scores)}), .build = build};
  if (parts.bias) made.guards.push_back(bias_of_columns());
  if (parts.log_softmax)
    made.numerics = {NumericClass::reassociates, 0,
                     "log-probabilities that rounding made equal stay in the order of the logits"};
  return made;
}

// --- Shortlists ---

/// What is ranked for a row are the elements of that row, and the words are theirs.
std::optional<std::string> other_elements(const Match& match) {
  const Node& elements = match.node("elements");
  if (elements.attr<MapPath>("row") != match.root_node().attr<MapPath>("to"))
    return "elements are those of other rows";
  if (elements.attr<MapPath>("element") != match.root_node().attr<MapPath>("words"))
    return "other words stand for the elements";
  return std::nullopt;
}

/// The k best of the words of a shortlist.
Rule best_of_shortlist(std::string name, Parts parts) {
  Pattern scores = match::op("select_elements", {logits(parts)}).named("elements");
  if (parts.log_softmax) scores = match::op("segment_log_softmax", {std::move(scores)});
  const auto build = [parts](Rewriter& rewriter, const Match& match) {
    fuse(rewriter, match, "shortlist_k_best", parts,
         {{"to", match.root_node().attr<MapPath>("to")},
          {"words", match.root_node().attr<MapPath>("words")}});
  };
  Rule made{.name = std::move(name),
            .pattern = match::op("segment_k_best", {std::move(scores)}),
            .guards = {{"elements_of_row", other_elements}},
            .numerics = {NumericClass::reassociates, 0,
                         "products are summed up in another order; log-probabilities that rounding "
                         "made equal stay in the order of the logits"},
            .build = build};
  if (parts.bias) made.guards.push_back(bias_of_columns());
  return made;
}

}  // namespace

Pass fuse_output() {
  constexpr Parts kBiasedScores{.bias = true, .log_softmax = true};
  constexpr Parts kScores{.log_softmax = true};
  constexpr Parts kBiasedLogits{.bias = true};
  constexpr Parts kLogits{};
  return {.name = "fuse_output",
          .rules = {best_words("biased_scores", kBiasedScores), best_words("scores", kScores),
                    best_words("biased_logits", kBiasedLogits), best_words("logits", kLogits),
                    best_of_shortlist("biased_shortlist_scores", kBiasedScores),
                    best_of_shortlist("shortlist_scores", kScores),
                    best_of_shortlist("biased_shortlist_logits", kBiasedLogits),
                    best_of_shortlist("shortlist_logits", kLogits)}};
}

}  // namespace fuselage
