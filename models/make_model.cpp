#include "fuselage/models/make_model.h"

#include <fmt/format.h>

#include <utility>

#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "fuselage/base/stack.h"
#include "fuselage/graph/verifier.h"
#include "models/architectures/scores.h"
#include "models/finite_weights.h"
#include "models/formats/match_weights.h"

namespace fuselage {

Model make_model(Graph graph, const TensorMap& weights, std::vector<std::string> vocabularies) {
  expect_stack();
  verify(graph);
  scores_of(graph);
  if (vocabularies.size() == 1) vocabularies.push_back(vocabularies[0]);
  const std::string name = fmt::format("graph {}", in_quotes(graph.name()));
  Model model;
  model.weights = match_weights(graph, weights, "weights of " + name, name);
  expect_finite(model.weights, name);
  model.graph = std::move(graph);
  model.vocabularies = std::move(vocabularies);
  return model;
}

}  // namespace fuselage
