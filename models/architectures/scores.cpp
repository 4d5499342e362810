#include "models/architectures/scores.h"

#include <fmt/format.h>

#include "fuselage/base/error.h"

namespace fuselage {

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
