#include "models/quantized/widen_matrices.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "fuselage/base/quantized.h"
#include "fuselage/ops/arithmetic/matmul.h"
#include "fuselage/ops/precision/quantize.h"
#include "fuselage/ops/registry.h"
#include "fuselage/ops/structure/leaf.h"

namespace fuselage {
namespace {

/// Whether a node converts its operand to f32.
bool gives_numbers(const Node& node) {
  return node.is<op::Dequantize>() || (node.is<op::Cast>() && node.as<op::Cast>().to == DType::f32);
}

/// Whether a use is the matrix of a product with float rows, which dequantizes it.
bool multiplies_numbers(const Graph& graph, const Use& use) {
  const Node& node = graph.node(use.node);
  return node.is<op::Matmul>() && use.operand == 1 &&
         graph.value(node.operands[0]).type.dtype == DType::f32;
}

bool reads_numbers(const Graph& graph, ValueId stored) {
  const auto& uses = graph.value(stored).uses;
  return !graph.is_output(stored) && std::all_of(uses.begin(), uses.end(), [&](const Use& use) {
    return gives_numbers(graph.node(use.node)) || multiplies_numbers(graph, use);
  });
}

bool is_only_transposed(const Graph& graph, ValueId matrix) {
  const auto& uses = graph.value(matrix).uses;
  return !uses.empty() && !graph.is_output(matrix) &&
         std::all_of(uses.begin(), uses.end(),
                     [&](const Use& use) { return graph.node(use.node).is<op::Transpose>(); });
}

/// Replaces by `numbers` the results of all nodes that only convert `stored`, and `stored` itself
/// in products.
void replace_readers(Graph& graph, ValueId stored, ValueId numbers) {
  const std::vector<Use> uses = graph.value(stored).uses;
  for (const Use& use : uses) {
    if (multiplies_numbers(graph, use)) {
      graph.set_operand(use, numbers);
    } else {
      graph.replace_uses(graph.result(use.node), numbers);
      graph.remove_node(use.node);
    }
  }
}

ValueId add_f32(Graph& graph, const Node& old, Dims dims) {
  return graph.result(add_node(graph,
                               op::Param{.name = old.as<ExternalName>().name,
                                         .domain = old.as<op::Param>().domain,
                                         .dims = std::move(dims)},
                               {}, old.location));
}

void widen(Model& model, NodeId id) {
  Graph& graph = model.graph;
  const Node old = graph.node(id);  // NOLINT(performance-unnecessary-copy-initialization)
  const auto name = old.as<ExternalName>().name;
  const ValueId stored = old.results[0];
  if (!reads_numbers(graph, stored))
    throw Error(fmt::format(
        "parameter {} is stored as {}, and the model multiplies its integers by a scale of its "
        "own; such a matrix cannot be stored in another precision: give the model in floats",
        in_quotes(name), to_string(graph.value(stored).type.dtype)));
  const std::string value_name = graph.value(stored).name;
  Dims dims = graph.value(stored).type.dims;
  Tensor& weight = model.weights.at(name);
  weight = weight.to_f32();
  ValueId numbers = add_f32(graph, old, dims);
  replace_readers(graph, stored, numbers);
  graph.remove_node(id);
  // Every use transposes the matrix: store its transpose.
  if (dims.size() == 2 && is_only_transposed(graph, numbers)) {
    weight = transposed(weight);
    std::swap(dims[0], dims[1]);
    const ValueId matrix = add_f32(graph, old, dims);
    replace_readers(graph, numbers, matrix);
    graph.remove_node(graph.value(numbers).producer);
    numbers = matrix;
  }
  graph.set_value_name(numbers, value_name);
}

}  // namespace

bool has_matrix_shape(const Graph& graph, const Type& type) {
  if (type.domain != graph.none()) return type.dims.size() == 1 && type.dims[0] > 1;
  return type.dims.size() == 2 && type.dims[0] > 1 && type.dims[1] > 1;
}

bool is_stored_short(DType dtype) { return is_quantized(dtype) || is_half(dtype); }

Tensor transposed(const Tensor& matrix) {
  const std::int64_t rows = matrix.shape()[0];
  const std::int64_t columns = matrix.shape()[1];
  const Tensor wide = matrix.to_f32();
  Tensor result(DType::f32, {columns, rows});
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < columns; ++j)
      result.mutable_data<float>()[j * rows + i] = wide.data<float>()[i * columns + j];
  return result;
}

std::map<std::string, DType> widen_matrices(
    Model& model, const std::function<bool(const std::string& name, DType type)>& keeps) {
  std::map<std::string, DType> types;
  for (const NodeId id : model.graph.nodes()) {
    if (!model.graph.alive(id)) continue;
    const Node& node = model.graph.node(id);
    if (!node.is<op::Param>()) continue;
    const Type& type = model.graph.value(node.results[0]).type;
    if (!is_stored_short(type.dtype) || !has_matrix_shape(model.graph, type)) continue;
    const auto name = node.as<ExternalName>().name;
    types.emplace(name, type.dtype);
    if (!keeps(name, type.dtype)) widen(model, id);
  }
  return types;
}

}  // namespace fuselage
