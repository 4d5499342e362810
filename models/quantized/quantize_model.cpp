#include "models/quantized/quantize_model.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "fuselage/ops/arithmetic/matmul.h"
#include "fuselage/ops/precision/quantize.h"
#include "fuselage/ops/registry.h"
#include "fuselage/ops/structure/leaf.h"
#include "models/formats/quantized_parts.h"
#include "models/quantized/fitted_scale.h"
#include "models/quantized/widen_matrices.h"

namespace fuselage {
namespace {

/// Whether a parameter is a matrix of floats.
bool is_matrix(const Graph& graph, const Node& node) {
  if (!node.is<op::Param>()) return false;
  const Type& type = graph.value(node.results[0]).type;
  return type.dtype == DType::f32 && has_matrix_shape(graph, type);
}

/// Whether the vectors that share a scale are the columns of a matrix. They are rows in a table and
/// in a matrix that products read transposed.
bool has_columns(const Graph& graph, ValueId matrix) {
  const Value& value = graph.value(matrix);
  if (value.type.domain != graph.none()) return false;
  return std::none_of(value.uses.begin(), value.uses.end(), [&](const Use& use) {
    const Node& user = graph.node(use.node);
    return user.is<op::Matmul>() && user.as<op::Matmul>().transposed;
  });
}

using ScaleOf = float (*)(const Quantizer& quantizer, const float* x, std::int64_t k);
constexpr ScaleOf kQuantizationScale = quantization_scale;

/// The vectors of a matrix as they are stored.
Tensor stored_vectors(const MatrixStorage& storage, const Tensor& vectors) {
  if (!storage.quantizer) return storage.floats == DType::f32 ? vectors : vectors.to_bf16();
  Quantizer quantizer = *storage.quantizer;
  const auto scale_of_all = storage.fits_integers ? fitted_scale : kQuantizationScale;
  if (storage.one_scale && quantizer.scale == 0)
    quantizer.scale = scale_of_all(quantizer, vectors.data<float>(), vectors.size());
  if (!storage.fits_integers || quantizer.scale > 0) return quantized(quantizer, vectors);
  const std::int64_t k = vectors.shape().back();
  Tensor result(quantizer.to, vectors.shape());
  std::byte* out = result.mutable_bytes();
  for (std::int64_t i = 0; i < vectors.size(); i += k, out += vector_bytes(quantizer.to, k)) {
    const float* x = vectors.data<float>() + i;
    quantize_vector(quantizer, x, k, fitted_scale(quantizer, x, k), out);
  }
  return result;
}

/// The errors of `stored`, without alternatives.
StoredMatrix compare(const Tensor& exact, const Tensor& stored) {
  const Tensor numbers = stored.to_f32();
  StoredMatrix result;
  double squares = 0, largest = 0;
  for (std::int64_t i = 0; i < exact.size(); ++i) {
    const double x = exact.data<float>()[i];
    const double error = std::fabs(x - static_cast<double>(numbers.data<float>()[i]));
    result.squared_error += error * error;
    result.largest_error = std::max(result.largest_error, error);
    result.beyond_clipping += std::fabs(x) > 1;
    squares += x * x;
    largest = std::max(largest, std::fabs(x));
  }
  result.squared_error = squares > 0 ? result.squared_error / squares : 0;
  result.largest_error = largest > 0 ? result.largest_error / largest : 0;
  return result;
}

std::size_t all_file_bytes(const TensorMap& weights) {
  std::size_t bytes = 0;
  for (const auto& [name, tensor] : weights) bytes += file_bytes(tensor);
  return bytes;
}

std::size_t f32_bytes(const TensorMap& weights) {
  std::size_t bytes = 0;
  for (const auto& [name, tensor] : weights)
    bytes += static_cast<std::size_t>(tensor.size()) * sizeof(float);
  return bytes;
}

/// A matrix in fewer bits, and its errors.
StoredMatrix store(const MatrixStorage& storage, const Tensor& exact, Tensor& weight) {
  weight = stored_vectors(storage, exact);
  StoredMatrix matrix = compare(exact, weight);
  matrix.to = weight.dtype();
  matrix.bits = file_bits(weight);
  matrix.bytes = file_bytes(weight);
  for (const Quantizer& other : storage.alternatives) {
    const MatrixStorage alternative{.quantizer = other, .one_scale = storage.one_scale};
    matrix.alternatives.push_back(compare(exact, stored_vectors(alternative, exact)).squared_error);
  }
  return matrix;
}

/// Replaces a parameter by one of type `dtype` and its conversion to f32.
void read_stored(Graph& graph, NodeId param, DType dtype, bool columns) {
  const Node old = graph.node(param);  // NOLINT(performance-unnecessary-copy-initialization)
  const Value value = graph.value(old.results[0]);
  Dims dims = value.type.dims;
  if (columns) std::swap(dims[0], dims[1]);
  const NodeId stored = add_node(graph,
                                 op::Param{.name = old.as<ExternalName>().name,
                                           .domain = value.type.domain,
                                           .dims = dims,
                                           .dtype = dtype},
                                 {}, old.location);
  NodeId numbers =
      is_quantized(dtype)
          ? add_node(graph, op::Dequantize{}, {graph.result(stored)}, old.location)
          : add_node(graph, op::Cast{.to = DType::f32}, {graph.result(stored)}, old.location);
  if (columns) numbers = add_node(graph, op::Transpose{}, {graph.result(numbers)}, old.location);
  graph.replace_uses(old.results[0], graph.result(numbers));
  graph.remove_node(param);
  graph.set_value_name(graph.result(stored), value.name);
}

}  // namespace

std::vector<std::string> matrix_names(const Model& model) {
  std::set<std::string> names;
  for (const NodeId id : model.graph.nodes()) {
    const Node& node = model.graph.node(id);
    if (!node.is<op::Param>()) continue;
    const Type& type = model.graph.value(node.results[0]).type;
    if ((type.dtype == DType::f32 || is_stored_short(type.dtype)) &&
        has_matrix_shape(model.graph, type))
      names.insert(node.as<ExternalName>().name);
  }
  return {names.begin(), names.end()};
}

StoredWeights store_matrices(Model& model, const StorageOf& storage_of) {
  StoredWeights result{.bytes_before = f32_bytes(model.weights)};
  // Integers are kept unless the quantizer may ask for fewer bits than they have.
  const auto keeps = [&](const std::string& name, DType type) {
    const MatrixStorage storage = storage_of(name);
    return type == storage.type() && type != DType::qlog4 && !storage.fits_integers;
  };
  const std::map<std::string, DType> before = widen_matrices(model, keeps);
  result.kept = std::count_if(before.begin(), before.end(), [&](const auto& matrix) {
    return keeps(matrix.first, matrix.second);
  });
  for (const NodeId id : model.graph.nodes()) {
    const Node& node = model.graph.node(id);
    if (!is_matrix(model.graph, node)) continue;
    const auto name = node.as<ExternalName>().name;
    const MatrixStorage storage = storage_of(name);
    const bool columns = storage.quantizer && has_columns(model.graph, node.results[0]);
    Tensor& weight = model.weights.at(name);
    const std::vector<std::int64_t> shape = weight.shape();
    StoredMatrix matrix = store(storage, columns ? transposed(weight) : weight.to_f32(), weight);
    matrix.name = name;
    if (const auto found = before.find(name); found != before.end()) matrix.from = found->second;
    matrix.shape = shape;
    result.matrices.push_back(std::move(matrix));
    if (weight.dtype() != DType::f32) read_stored(model.graph, id, weight.dtype(), columns);
  }
  result.bytes_after = all_file_bytes(model.weights);
  return result;
}

StoredWeights store_matrices(Model& model, const MatrixStorage& storage) {
  return store_matrices(model, [&](const std::string&) { return storage; });
}

}  // namespace fuselage
