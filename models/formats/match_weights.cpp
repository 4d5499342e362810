#include "models/formats/match_weights.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "fuselage/base/quantized.h"
#include "fuselage/ops/structure/leaf.h"
#include "graph/weights.h"
#include "models/formats/quantized_parts.h"
#include "models/formats/widened.h"

namespace fuselage {
namespace {

Tensor as_declared(const Tensor& tensor, DType dtype, const std::string& name,
                   const std::string& path) {
  if (tensor.dtype() == dtype) return tensor;
  if (dtype == DType::f32 && is_half(tensor.dtype())) return widened(tensor, name, path);
  throw Error(fmt::format("{}: weight {} is {}, but the graph declares {}{}", path, in_quotes(name),
                          to_string(tensor.dtype()), to_string(dtype),
                          is_quantized(dtype) ? fmt::format(": integers with their scales in {}",
                                                            in_quotes(name + ".scale"))
                                              : ""));
}

/// The parameters whose numbers may be packed.
PackedWeights packed_parameters(const Graph& graph) {
  PackedWeights packed;
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    if (!node.is<op::Param>()) continue;
    const DType dtype = node.as<op::Param>().dtype;
    const Dims dims = node.as<op::Param>().dims;
    if ((dtype == DType::qlog4 || dtype == DType::qint8) && !dims.empty())
      packed.emplace(node.as<ExternalName>().name, PackedVectors{dtype, dims.back()});
  }
  return packed;
}

}  // namespace

TensorMap match_weights(const Graph& graph, const TensorMap& tensors, const std::string& path,
                        const std::string& graph_path) {
  const TensorMap stored = join_quantized_weights(tensors, packed_parameters(graph), path);
  TensorMap result;
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    if (!node.is<op::Param>()) continue;
    const auto name = node.as<ExternalName>().name;
    const Type& type = graph.value(node.results[0]).type;
    const Dims shape = graph.stored_shape(type);
    const Tensor& weight =
        find_weight({.name = name, .shape = shape, .where = path, .graph = graph_path}, stored);
    if (result.count(name) == 0) result.emplace(name, as_declared(weight, type.dtype, name, path));
  }
  std::vector<std::string> left_over;
  for (const auto& [name, tensor] : stored)
    if (result.count(name) == 0) left_over.push_back(name);
  if (!left_over.empty())
    throw Error(fmt::format("{}: {} weight{} no parameter of {}: {}", path, left_over.size(),
                            left_over.size() == 1 ? " is" : "s are", graph_path,
                            fmt::join(left_over, ", ")));
  return result;
}

}  // namespace fuselage
