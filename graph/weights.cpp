#include "graph/weights.h"

#include <fmt/format.h>

#include <vector>

#include "base/suggest.h"
#include "fuselage/base/error.h"

namespace fuselage {

const Tensor& find_weight(const DeclaredWeight& declared, const TensorMap& weights) {
  const auto found = weights.find(std::string(declared.name));
  if (found == weights.end()) {
    std::vector<std::string_view> names;
    for (const auto& [known, tensor] : weights) names.emplace_back(known);
    throw Error(fmt::format("{}: weight {}, a parameter of {}, is missing{}", declared.where,
                            in_quotes(declared.name), declared.graph,
                            did_you_mean(declared.name, names)));
  }
  if (found->second.shape() != declared.shape)
    throw Error(fmt::format("{}: weight {} has shape {}, but {} declares {}", declared.where,
                            in_quotes(declared.name), shape_to_string(found->second.shape()),
                            declared.graph, shape_to_string(declared.shape)));
  return found->second;
}

void expect_weights(const Graph& graph, const TensorMap& weights) {
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    if (!node.has(Trait::external)) continue;
    const Dims shape = graph.stored_shape(graph.value(node.results[0]).type);
    find_weight(
        {.name = node.as<ExternalName>().name, .shape = shape, .where = graph.describe(node)},
        weights);
  }
}

}  // namespace fuselage
