#include "passes/fusion/fuse_ensemble.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fuselage/ops/arithmetic/matmul.h"
#include "fuselage/ops/arithmetic/pointwise.h"
#include "fuselage/ops/arithmetic/softmax.h"
#include "fuselage/ops/fused/output.h"
#include "fuselage/ops/search/k_best.h"
#include "fuselage/ops/structure/leaf.h"

namespace fuselage {
namespace {

/// One model's term of the sum: weight times log_softmax(product + bias).
struct Member {
  NodeId product;
  std::optional<ValueId> bias;
  std::optional<ValueId> weight;
};

/// A weighted sum of several models' scores.
struct Ensemble {
  std::vector<Member> members;
  std::vector<ValueId> scores;  ///< the sums and their terms
  std::vector<NodeId> nodes;    ///< all nodes that compute them, products included
};

/// Of a node with two operands, the last one that is a result of Op, if `other` accepts the other
/// operand.
template <OpStruct Op, class Other>
std::optional<std::size_t> operand_by(const Graph& graph, const Node& node, const Other& other) {
  for (std::size_t i = node.operands.size(); i-- > 0;)
    if (graph.producer(node.operands[i]).is<Op>() && other(node.operands[1 - i])) return i;
  return std::nullopt;
}

bool is_bias(const Graph& graph, ValueId bias, ValueId sum) {
  const Type& type = graph.value(bias).type;
  return type.domain == graph.none() && type.dims == graph.value(sum).type.dims;
}

/// Reads the logits of a member; false unless they are a product with an optional bias.
bool read_logits(const Graph& graph, ValueId logits, Member& member, std::vector<NodeId>& nodes) {
  const Node& node = graph.producer(logits);
  nodes.push_back(graph.value(logits).producer);
  if (node.is<op::Matmul>()) {
    member.product = nodes.back();
    return true;
  }
  if (!node.is<op::Add>()) return false;
  auto at = operand_by<op::Matmul>(graph, node,
                                   [&](ValueId bias) { return is_bias(graph, bias, logits); });
  if (!at) at = operand_by<op::Matmul>(graph, node, [](ValueId) { return true; });
  if (!at) return false;
  member.product = graph.value(node.operands[*at]).producer;
  member.bias = node.operands[1 - *at];
  nodes.push_back(member.product);
  return true;
}

/// Reads the scores of a member, with an optional weight; false if they have another form.
bool read_member(const Graph& graph, ValueId scores, Ensemble& into) {
  Member member;
  const Node* node = &graph.producer(scores);
  into.nodes.push_back(graph.value(scores).producer);
  if (node->is<op::Mul>()) {
    const auto at = operand_by<op::LogSoftmax>(
        graph, *node, [&](ValueId weight) { return is_constant(graph.producer(weight)); });
    if (!at) return false;
    member.weight = node->operands[1 - *at];
    into.nodes.push_back(graph.value(node->operands[*at]).producer);
    node = &graph.node(into.nodes.back());
  }
  if (!node->is<op::LogSoftmax>() || !read_logits(graph, node->operands[0], member, into.nodes))
    return false;
  into.members.push_back(member);
  return true;
}

/// Reads a sum and its nested sums, in order.
bool read_sum(const Graph& graph, ValueId sum, Ensemble& into) {
  const Node& node = graph.producer(sum);
  into.scores.push_back(sum);
  if (!node.is<op::Add>()) return read_member(graph, sum, into);
  into.nodes.push_back(graph.value(sum).producer);
  return read_sum(graph, node.operands[0], into) && read_sum(graph, node.operands[1], into);
}

/// The ensemble that a k_best ranks.
std::optional<Ensemble> ensemble_of(const Graph& graph, const Node& k_best) {
  Ensemble ensemble;
  const bool found = read_sum(graph, k_best.operands[0], ensemble) && ensemble.members.size() > 1;
  return found ? std::optional(std::move(ensemble)) : std::nullopt;
}

const Ensemble& ensemble_of(const Match& match) { return match.analysis<Ensemble>(); }

/// All nodes are used only by the sum, and only once.
std::optional<std::string> used_elsewhere(const Match& match) {
  const Graph& graph = match.graph();
  for (const NodeId id : ensemble_of(match).nodes) {
    const ValueId result = graph.result(id);
    if (graph.is_output(result))
      return fmt::format("{} is an output of the graph", graph.describe(id));
    if (const std::size_t uses = graph.value(result).uses.size(); uses > 1)
      return fmt::format("{} has {} uses", graph.describe(id), uses);
  }
  return std::nullopt;
}

std::optional<std::string> other_types(const Match& match) {
  const Graph& graph = match.graph();
  const Type& sum = graph.value(match.root_node().operands[0]).type;
  for (const ValueId scores : ensemble_of(match).scores)
    if (const Type& type = graph.value(scores).type; type != sum)
      return fmt::format("{} is {} and is added to {}",
                         graph.describe(graph.value(scores).producer), graph.show(type),
                         graph.show(sum));
  return std::nullopt;
}

std::optional<std::string> other_biases(const Match& match) {
  const Graph& graph = match.graph();
  for (const auto& [product, bias, weight] : ensemble_of(match).members)
    if (bias && !is_bias(graph, *bias, graph.result(product)))
      return fmt::format("what is added to {} is {} and not one element a column",
                         graph.describe(product), graph.show(graph.value(*bias).type));
  return std::nullopt;
}

/// The number of a scalar constant.
double value_of(const Graph& graph, ValueId constant) {
  return graph.producer(constant).as<op::Constant>().values.front();
}

std::optional<std::string> unfit_weights(const Match& match) {
  const Graph& graph = match.graph();
  for (const Member& member : ensemble_of(match).members) {
    if (!member.weight) continue;
    if (const Type& type = graph.value(*member.weight).type; row_size(type) != 1)
      return fmt::format("scores are multiplied by {} and not by one number", graph.show(type));
    const double weight = value_of(graph, *member.weight);
    if (!std::isfinite(static_cast<float>(weight)) || weight < 0)
      return fmt::format("scores are multiplied by {}; weights are finite and not negative",
                         weight);
  }
  return std::nullopt;
}

void fuse_ensemble_scores(Rewriter& rewriter, const Match& match) {
  const Graph& graph = rewriter.graph();
  const NodeId root = match.root();
  const Ensemble& ensemble = ensemble_of(match);
  std::vector<ValueId> operands;
  std::vector<double> weights;
  Dims biased, transposed;
  for (const auto& [id, bias, weight] : ensemble.members) {
    const Node& product = graph.node(id);
    operands.insert(operands.end(), product.operands.begin(), product.operands.end());
    if (bias) operands.push_back(*bias);
    weights.push_back(weight ? value_of(graph, *weight) : 1);
    biased.push_back(bias ? 1 : 0);
    transposed.push_back(product.as<op::Matmul>().transposed ? 1 : 0);
  }
  for (Dims* flags : {&biased, &transposed})
    if (std::count(flags->begin(), flags->end(), 0) == std::ssize(*flags)) flags->clear();
  for (const NodeId id : ensemble.nodes) rewriter.include(id);
  const NodeId fused = rewriter.add_node(op::EnsembleKBest{.k = graph.node(root).as<op::KBest>().k,
                                                           .weights = std::move(weights),
                                                           .biased = std::move(biased),
                                                           .transposed = std::move(transposed)},
                                         std::move(operands));
  for (std::size_t i = 0; i < 2; ++i)
    rewriter.replace(graph.result(root, i), graph.result(fused, i));
}

}  // namespace

Pass fuse_ensemble() {
  const auto ranks_ensemble = [](const Graph& graph, const Node& node) {
    return ensemble_of(graph, node).has_value();
  };
  return {.name = "fuse_ensemble",
          .rules = {{.name = "ensemble_scores",
                     .pattern = match::op<op::KBest>().where(ranks_ensemble),
                     .analyze = [](const Match& match) -> std::any {
                       return ensemble_of(match.graph(), match.root_node()).value();
                     },
                     .guards = {{"used_once", used_elsewhere},
                                {"same_types", other_types},
                                {"bias_of_columns", other_biases},
                                {"weights", unfit_weights}},
                     .numerics = {NumericClass::reassociates, 0,
                                  "scores are those of the weighted sum of the logits"},
                     .build = fuse_ensemble_scores}}};
}

}  // namespace fuselage
