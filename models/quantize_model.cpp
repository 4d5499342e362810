#include "models/quantize_model.h"

#include <algorithm>
#include <cmath>

#include "ops/registry.h"

namespace fuselage {
namespace {

/// Whether a parameter is a matrix, or has a vector for each entry of a vocabulary.
bool is_matrix(const Graph& graph, const Node& node) {
  if (node.op->name != "param") return false;
  const Type& type = graph.value(node.results[0]).type;
  if (type.dtype != DType::f32) return false;
  if (type.domain != graph.none()) return type.dims.size() == 1 && type.dims[0] > 1;
  return type.dims.size() == 2 && type.dims[0] > 1 && type.dims[1] > 1;
}

/// Whether the vectors that share a scale are the columns of a matrix: not in a table, nor where
/// products read the matrix transposed.
bool has_columns(const Graph& graph, ValueId matrix) {
  const Value& value = graph.value(matrix);
  if (value.type.domain != graph.none()) return false;
  return std::none_of(value.uses.begin(), value.uses.end(), [&](const Use& use) {
    const Node& user = graph.node(use.node);
    return user.op->name == "matmul" && user.attr<bool>("transposed");
  });
}

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

double largest_error(const Tensor& exact, const Tensor& quantized) {
  const Tensor numbers = quantized.to_f32();
  double error = 0, largest = 0;
  for (std::int64_t i = 0; i < exact.size(); ++i) {
    const double x = exact.data<float>()[i];
    error = std::max(error, std::fabs(x - static_cast<double>(numbers.data<float>()[i])));
    largest = std::max(largest, std::fabs(x));
  }
  return largest > 0 ? error / largest : 0;
}

/// Puts the numbers that `stored` stands for in the place of a parameter.
void read_quantized(Graph& graph, NodeId param, DType dtype, bool columns) {
  const Node old = graph.node(param);  // NOLINT(performance-unnecessary-copy-initialization)
  const Value value = graph.value(old.results[0]);
  Dims dims = value.type.dims;
  if (columns) std::swap(dims[0], dims[1]);
  const NodeId stored = graph.add_node(op("param"), {},
                                       {{"name", old.attr<std::string>("name")},
                                        {"domain", value.type.domain},
                                        {"dims", dims},
                                        {"dtype", dtype}},
                                       old.location);
  NodeId numbers = graph.add_node(op("dequantize"), {graph.result(stored)}, {}, old.location);
  if (columns) numbers = graph.add_node(op("transpose"), {graph.result(numbers)}, {}, old.location);
  graph.replace_uses(old.results[0], graph.result(numbers));
  graph.remove_node(param);
  graph.set_value_name(graph.result(stored), value.name);
}

}  // namespace

QuantizedWeights quantize_weights(Model& model, const Quantizer& quantizer) {
  QuantizedWeights result;
  for (const auto& [name, tensor] : model.weights) result.bytes_before += tensor.size_bytes();
  for (const NodeId id : model.graph.nodes()) {
    const Node& node = model.graph.node(id);
    if (!is_matrix(model.graph, node)) continue;
    const bool columns = has_columns(model.graph, node.results[0]);
    Tensor& weight = model.weights.at(node.attr<std::string>("name"));
    const Tensor exact = columns ? transposed(weight) : weight.to_f32();
    weight = quantized(quantizer, exact);
    result.largest_error = std::max(result.largest_error, largest_error(exact, weight));
    ++result.matrices;
    read_quantized(model.graph, id, quantizer.to, columns);
  }
  for (const auto& [name, tensor] : model.weights) result.bytes_after += tensor.size_bytes();
  return result;
}

}  // namespace fuselage
