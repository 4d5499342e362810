#pragma once

#include <string>
#include <string_view>

#include "fuselage/base/tensor.h"
#include "fuselage/graph/graph.h"

namespace fuselage {

/// What a graph declares of a weight, and how messages name both sides.
struct DeclaredWeight {
  std::string_view name;
  const Dims& shape;       ///< Graph::stored_shape of its type
  std::string_view where;  ///< begins a message: a file of weights, or the declaring node
  std::string_view graph = "the graph";
};

/// The weight of that name. All ways to give weights to a graph check them here. Throws Error with
/// the nearest name if it is missing, and with both shapes if its shape is not the declared one: a
/// transposed matrix has as many elements, and would give wrong numbers.
const Tensor& find_weight(const DeclaredWeight& declared, const TensorMap& weights);

/// Throws Error unless there is a weight of the declared shape for each parameter of the graph.
/// Other weights do not matter.
void expect_weights(const Graph& graph, const TensorMap& weights);

}  // namespace fuselage
