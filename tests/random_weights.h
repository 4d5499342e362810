#pragma once

#include <algorithm>
#include <random>

#include "fuselage/base/tensor.h"
#include "fuselage/graph/graph.h"
#include "fuselage/ops/structure/leaf.h"

namespace fuselage {

/// A tensor for each `param` of a graph, in order of its nodes: make(type, shape of what is
/// stored).
template <typename Make>
TensorMap weights_for(const Graph& graph, Make make) {
  TensorMap weights;
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    if (!node.is<op::Param>()) continue;
    const Type& type = graph.value(node.results[0]).type;
    weights.emplace(node.as<op::Param>().name, make(type, graph.stored_shape(type)));
  }
  return weights;
}

/// A tensor of f32 whose elements draw() gives.
template <typename Draw>
Tensor tensor_of(const Dims& shape, Draw draw) {
  Tensor tensor(DType::f32, shape);
  std::generate_n(tensor.mutable_data<float>(), tensor.size(), draw);
  return tensor;
}

/// Weights of f32, uniform within ±largest.
inline TensorMap uniform_weights(const Graph& graph, unsigned seed, float largest) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-largest, largest);
  return weights_for(graph, [&](const Type&, const Dims& shape) {
    return tensor_of(shape, [&] { return uniform(random); });
  });
}

}  // namespace fuselage
