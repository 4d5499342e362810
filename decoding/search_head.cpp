#include "decoding/search_head.h"

#include <algorithm>

#include "base/error.h"
#include "ops/registry.h"

namespace fuselage {

Graph with_search_head(const Graph& model, SearchHead head, std::int64_t k, bool alignment) {
  Graph graph = model;
  const std::vector<Output> outputs = graph.outputs();
  const ValueId logits = graph.find_output("logits");
  if (!logits.valid())
    throw Error("graph '{}' has no output 'logits', which a search needs", model.name());
  graph.clear_outputs();
  ValueId scores = logits;
  if (head != SearchHead::k_best_logits) {
    scores = graph.result(graph.add_node(op("log_softmax"), {logits}));
    graph.set_value_name(scores, "log_probs");
  }
  if (head == SearchHead::log_probabilities) {
    graph.add_output("log_probs", scores);
  } else {
    const std::int64_t width = graph.value(logits).type.dims.back();
    const NodeId best = graph.add_node(op("k_best"), {scores}, {{"k", std::min(k, width)}});
    graph.set_value_name(graph.result(best, 0), "best_scores");
    graph.set_value_name(graph.result(best, 1), "best_words");
    graph.add_output("best_scores", graph.result(best, 0));
    graph.add_output("best_words", graph.result(best, 1));
  }
  for (const Output& output : outputs)
    if (output.name != "logits" && (alignment || output.name != "alignment"))
      graph.add_output(output.name, output.value);
  return graph;
}

}  // namespace fuselage
