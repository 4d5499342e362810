#include "models/architectures/scores.h"

#include <fmt/format.h>

#include <algorithm>

#include "fuselage/base/error.h"
#include "fuselage/ops/arithmetic/pointwise.h"
#include "fuselage/ops/arithmetic/softmax.h"
#include "fuselage/ops/structure/leaf.h"

namespace fuselage {

namespace {

bool never_above_zero(const Graph& graph, ValueId value) {
  const Node& node = graph.producer(value);
  if (node.is<op::LogSoftmax>()) return true;
  if (node.is<op::Add>())
    return never_above_zero(graph, node.operands[0]) && never_above_zero(graph, node.operands[1]);
  if (!node.is<op::Mul>()) return false;
  for (std::size_t i = 0; i < 2; ++i) {
    const Node& factor = graph.producer(node.operands[i]);
    if (!factor.is<op::Constant>()) continue;
    const std::vector<double> numbers = factor.as<op::Constant>().values;
    if (std::all_of(numbers.begin(), numbers.end(), [](double number) { return number >= 0; }))
      return never_above_zero(graph, node.operands[1 - i]);
  }
  return false;
}

}  // namespace

bool never_above_zero(const Graph& graph, const ModelScores& scores) {
  return !scores.log_probs || never_above_zero(graph, scores.value);
}

ModelScores scores_of(const Graph& graph) {
  ModelScores scores{.value = graph.find_output("logits")};
  if (!scores.value.valid()) {
    scores.value = graph.find_output("log_probs");
    scores.log_probs = true;
  }
  if (!scores.value.valid())
    throw Error(fmt::format(
        "graph '{}' has no output 'logits' or 'log_probs'; translation needs one of them",
        graph.name()));
  const Dims& dims = graph.value(scores.value).type.dims;
  if (dims.empty())
    throw Error(fmt::format(
        "graph '{}': its output '{}' must have an element per target word, not {}", graph.name(),
        scores.log_probs ? "log_probs" : "logits", graph.show(graph.value(scores.value).type)));
  scores.words = dims.back();
  return scores;
}

}  // namespace fuselage
