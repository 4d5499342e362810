#include "passes/fusion/fuse_output.h"

#include <fmt/format.h>

#include "fuselage/ops/arithmetic/matmul.h"
#include "fuselage/ops/arithmetic/pointwise.h"
#include "fuselage/ops/arithmetic/softmax.h"
#include "fuselage/ops/fused/output.h"
#include "fuselage/ops/search/k_best.h"
#include "fuselage/ops/search/shortlist.h"
#include "fuselage/ops/structure/rows.h"

namespace fuselage {
namespace {

constexpr Capture kX{"x"}, kW{"w"}, kProduct{"product"}, kBias{"bias"}, kElements{"elements"},
    kScores{"scores"};

Pattern product() {
  return match::op<op::Matmul>({match::any(kX), match::any(kW)}).named(kProduct);
}

Pattern biased_product() {
  return match::op<op::Add>({product(), match::any(kBias)}).commutative();
}

/// The bias has one element per column and no rows.
Guard bias_of_columns() {
  const auto refuse = [](const Match& match) -> std::optional<std::string> {
    const Graph& graph = match.graph();
    const Type& bias = match.type(kBias);
    const Dims& columns = match.type(kProduct).dims;
    if (bias.domain == graph.none() && bias.dims == columns) return std::nullopt;
    return fmt::format("what is added is {} and not {}, the same for all rows", graph.show(bias),
                       graph.show({DType::f32, graph.none(), columns}));
  };
  return {"bias_of_columns", refuse};
}

/// The optional parts between product and k_best.
struct OutputParts {
  bool bias = false;
  bool log_softmax = false;
};

/// Replaces root and product by `fused_op` of the product's operands.
template <OpStruct Op>
void replace_by_output_layer(Rewriter& rewriter, const Match& match, OutputParts parts,
                             const Op& fused_op) {
  const NodeId root = match.root();
  std::vector<ValueId> operands{match[kX], match[kW]};
  if (parts.bias) operands.push_back(match[kBias]);
  const NodeId fused = rewriter.add_node(fused_op, std::move(operands));
  for (std::size_t i = 0; i < 2; ++i)
    rewriter.replace(rewriter.graph().result(root, i), rewriter.graph().result(fused, i));
}

bool is_transposed(const Match& match) { return match.node(kProduct).as<op::Matmul>().transposed; }

Pattern logits(OutputParts parts) { return parts.bias ? biased_product() : product(); }

/// The k best of all words.
Rule best_words(std::string name, OutputParts parts) {
  Pattern scores = logits(parts);
  if (parts.log_softmax) scores = match::op<op::LogSoftmax>({std::move(scores)});
  const auto build = [parts](Rewriter& rewriter, const Match& match) {
    replace_by_output_layer(rewriter, match, parts,
                            op::LinearKBest{.k = match.root_node().as<op::KBest>().k,
                                            .transposed = is_transposed(match),
                                            .log_softmax = parts.log_softmax});
  };
  Rule made{.name = std::move(name),
            .pattern = match::op<op::KBest>({std::move(scores)}),
            .build = build};
  if (parts.bias) made.guards.push_back(bias_of_columns());
  if (parts.log_softmax)
    made.numerics = {NumericClass::reassociates, 0,
                     "log-probabilities that rounding made equal stay in the order of the logits"};
  return made;
}

// --- Shortlists ---

/// The ranked elements of a row come from that row, and the words are theirs.
std::optional<std::string> other_elements(const Match& match) {
  const auto elements = match.node(kElements).as<op::SelectElements>();
  const auto best = match.root_node().as<op::SegmentKBest>();
  if (elements.row != best.to) return "elements are those of other rows";
  if (elements.element != best.words) return "other words stand for the elements";
  return std::nullopt;
}

/// The words are one list a sentence, so that a row's words are adjacent.
std::optional<std::string> no_shortlist(const Match& match) {
  const Graph& graph = match.graph();
  const MapPath& words = match.root_node().as<op::SelectElements>().element;
  if (words.size() != 2 || graph.map(words[0]).kind != MapKind::right)
    return "the elements are not chosen by the right members of pairs";
  const Domain& list = graph.domain(graph.map(words[0]).to);
  if (list.kind == DomainKind::shortlist) return std::nullopt;
  return fmt::format("'{}', whose rows choose the elements, is no shortlist", list.name);
}

/// Each element is chosen from the row that its pair belongs to.
std::optional<std::string> other_left_rows(const Match& match) {
  const MapPath& row = match.root_node().as<op::SelectElements>().row;
  if (row.size() == 1 && match.graph().map(row[0]).kind == MapKind::left) return std::nullopt;
  return "the elements are not chosen from the left members of pairs";
}

/// The elements of a product for the words of a shortlist.
Rule sampled_product(std::string name, OutputParts parts) {
  const auto build = [parts](Rewriter& rewriter, const Match& match) {
    const auto elements = match.root_node().as<op::SelectElements>();
    std::vector<ValueId> operands{match[kX], match[kW]};
    if (parts.bias) operands.push_back(match[kBias]);
    rewriter.replace(rewriter.graph().result(match.root()),
                     rewriter.add(op::SampledMatmul{.to = elements.row,
                                                    .words = elements.element,
                                                    .transposed = is_transposed(match)},
                                  std::move(operands)));
  };
  Rule made{.name = std::move(name),
            .pattern = match::op<op::SelectElements>({logits(parts)}),
            .guards = {{"shortlist", no_shortlist}, {"left_rows", other_left_rows}},
            .numerics = {NumericClass::reassociates, 0, "products are summed up in another order"},
            .build = build};
  if (parts.bias) made.guards.push_back(bias_of_columns());
  return made;
}

/// The k best of all words by the same scores; invalid if there are none, or several.
NodeId best_of_scores(const Match& match) {
  NodeId found;
  for (const Use& use : match.graph().value(match[kScores]).uses) {
    if (!match.graph().node(use.node).is<op::KBest>()) continue;
    if (found.valid()) return {};
    found = use.node;
  }
  return found;
}

std::optional<std::string> not_ranked(const Match& match) {
  if (best_of_scores(match).valid()) return std::nullopt;
  return "the scores are not ranked once";
}

/// The log-probabilities of listed words beside the k best of all words: their logits minus the
/// normalizer of the output layer.
Rule listed_scores(std::string name, OutputParts parts) {
  const auto build = [parts](Rewriter& rewriter, const Match& match) {
    const auto elements = match.root_node().as<op::SelectElements>();
    const NodeId best = best_of_scores(match);
    std::vector<ValueId> operands{match[kX], match[kW]};
    if (parts.bias) operands.push_back(match[kBias]);
    const NodeId layer =
        rewriter.add_node(op::LinearKBest{.k = match.graph().node(best).as<op::KBest>().k,
                                          .transposed = is_transposed(match),
                                          .log_softmax = true,
                                          .normalizer = true},
                          operands);
    const ValueId logits = rewriter.add(
        op::SampledMatmul{
            .to = elements.row, .words = elements.element, .transposed = is_transposed(match)},
        std::move(operands));
    const ValueId normalizer =
        rewriter.add(op::SelectRows{.via = elements.row}, {rewriter.graph().result(layer, 2)});
    rewriter.replace(rewriter.graph().result(match.root()),
                     rewriter.add(op::Sub{}, {logits, normalizer}));
    for (std::size_t i = 0; i < 2; ++i)
      rewriter.replace(rewriter.graph().result(best, i), rewriter.graph().result(layer, i));
  };
  Rule made{.name = std::move(name),
            .pattern = match::op<op::SelectElements>(
                {match::op<op::LogSoftmax>({logits(parts)}).named(kScores).shared()}),
            .guards = {{"shortlist", no_shortlist},
                       {"left_rows", other_left_rows},
                       {"ranked", not_ranked}},
            .numerics = {NumericClass::reassociates, 0,
                         "products are summed up in another order, and a normalizer is rounded; "
                         "log-probabilities that rounding made equal stay in the order of the "
                         "logits"},
            .build = build};
  if (parts.bias) made.guards.push_back(bias_of_columns());
  return made;
}

/// The k best of the words of a shortlist.
Rule best_of_shortlist(std::string name, OutputParts parts) {
  Pattern scores = match::op<op::SelectElements>({logits(parts)}).named(kElements);
  if (parts.log_softmax) scores = match::op<op::SegmentLogSoftmax>({std::move(scores)});
  const auto build = [parts](Rewriter& rewriter, const Match& match) {
    const auto best = match.root_node().as<op::SegmentKBest>();
    replace_by_output_layer(rewriter, match, parts,
                            op::ShortlistKBest{.k = best.k,
                                               .to = best.to,
                                               .words = best.words,
                                               .transposed = is_transposed(match),
                                               .log_softmax = parts.log_softmax});
  };
  Rule made{.name = std::move(name),
            .pattern = match::op<op::SegmentKBest>({std::move(scores)}),
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
  constexpr OutputParts kBiasedScores{.bias = true, .log_softmax = true};
  constexpr OutputParts kPlainScores{.log_softmax = true};
  constexpr OutputParts kBiasedLogits{.bias = true};
  constexpr OutputParts kLogits{};
  return {.name = "fuse_output",
          .rules = {listed_scores("biased_listed_scores", kBiasedLogits),
                    listed_scores("listed_scores", kLogits),
                    best_words("biased_scores", kBiasedScores), best_words("scores", kPlainScores),
                    best_words("biased_logits", kBiasedLogits), best_words("logits", kLogits),
                    best_of_shortlist("biased_shortlist_scores", kBiasedScores),
                    best_of_shortlist("shortlist_scores", kPlainScores),
                    best_of_shortlist("biased_shortlist_logits", kBiasedLogits),
                    best_of_shortlist("shortlist_logits", kLogits)}};
}

Pass fuse_sampled_products() {
  return {.name = "fuse_sampled_products",
          .rules = {sampled_product("biased", {.bias = true}), sampled_product("unbiased", {})}};
}

}  // namespace fuselage
