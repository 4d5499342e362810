#pragma once

#include <string>

#include "fuselage/base/tensor.h"
#include "fuselage/graph/graph.h"

namespace fuselage {

/// The parameters of `graph` in the types that it declares. Floats of any width become f32 where
/// the graph has f32, and integers NAME with their scales NAME.scale become quantized (see
/// join_quantized_weights). Throws Error unless the tensors are exactly the graph's parameters;
/// `path` and `graph_path` name both in messages.
TensorMap match_weights(const Graph& graph, const TensorMap& tensors, const std::string& path,
                        const std::string& graph_path);

}  // namespace fuselage
