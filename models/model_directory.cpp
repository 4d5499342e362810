#include "models/model_directory.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/error.h"
#include "base/file.h"
#include "base/quantized.h"
#include "base/suggest.h"
#include "graph/text.h"
#include "models/model_config.h"
#include "models/quantized_parts.h"
#include "models/safetensors.h"
#include "ops/registry.h"

namespace fuselage {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kConfigFile = "config.json";
constexpr std::string_view kGraphFile = "graph.ir";
constexpr std::string_view kWeightsFile = "weights.safetensors";
std::string path_in(const std::string& directory, std::string_view file) {
  return (fs::path(directory) / file).string();
}

// Writing.

TensorMap stored_weights(const Model& model, bool half) {
  if (!half) return model.weights;
  TensorMap result;
  for (const auto& [name, tensor] : model.weights) {
    if (is_quantized(tensor.dtype()) || tensor.dtype() == DType::bf16) {
      result.emplace(name, tensor);
      continue;
    }
    Tensor narrow = tensor.to_f16();
    const auto* bits = narrow.data<std::uint16_t>();
    const Tensor wide = tensor.to_f32();
    const auto* numbers = wide.data<float>();
    for (std::int64_t i = 0; i < tensor.size(); ++i)
      if (std::isfinite(numbers[i]) && !std::isfinite(half_to_float(bits[i])))
        throw Error("parameter '{}' holds {}, which half precision cannot; convert without --half",
                    name, numbers[i]);
    result.emplace(name, std::move(narrow));
  }
  return result;
}

/// Names for copies of the vocabularies: their own, or with a prefix where two files share one.
std::vector<std::string> vocabulary_names(const std::vector<std::string>& paths) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    std::string name = fs::path(paths[i]).filename().string();
    for (std::size_t j = 0; j < i; ++j) {
      if (paths[j] == paths[i])
        name = names[j];
      else if (names[j] == name)
        name = fmt::format("{}.{}", i + 1, name);
    }
    names.push_back(std::move(name));
  }
  return names;
}

void make_directory(const std::string& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) throw Error("cannot make the directory {}: {}", directory, error.message());
}

// Reading.

std::vector<std::int64_t> expected_shape(const Graph& graph, const Type& type) {
  std::vector<std::int64_t> shape(type.dims.begin(), type.dims.end());
  const Domain& domain = graph.domain(type.domain);
  if (domain.kind == DomainKind::vocabulary) shape.insert(shape.begin(), domain.size);
  return shape;
}

Tensor as_declared(const Tensor& tensor, DType dtype, const std::string& name,
                   const std::string& path) {
  if (tensor.dtype() == dtype) return tensor;
  if (dtype == DType::f32) return tensor.to_f32();
  throw Error(
      "{}: weight '{}' is {}, but the graph declares {}{}", path, name, to_string(tensor.dtype()),
      to_string(dtype),
      is_quantized(dtype) ? fmt::format(": integers with their scales in '{}.scale'", name) : "");
}

/// How long the vectors of 4-bit parameters are.
VectorLengths nibble_lengths(const Graph& graph) {
  VectorLengths lengths;
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    if (node.op->name != "param" || node.attr<DType>("dtype") != DType::qlog4) continue;
    const auto& dims = node.attr<Dims>("dims");
    if (!dims.empty()) lengths.emplace(node.attr<std::string>("name"), dims.back());
  }
  return lengths;
}

/// The weights in the types that the graph declares; they must be exactly its parameters.
TensorMap matched_weights(const Graph& graph, const TensorMap& stored, const std::string& path,
                          const std::string& graph_path) {
  TensorMap result;
  for (const NodeId id : graph.nodes()) {
    const Node& node = graph.node(id);
    if (node.op->name != "param") continue;
    const auto& name = node.attr<std::string>("name");
    const Type& type = graph.value(node.results[0]).type;
    const auto found = stored.find(name);
    if (found == stored.end()) {
      std::vector<std::string_view> names;
      for (const auto& [known, tensor] : stored) names.push_back(known);
      throw Error("{}: weight '{}', a parameter of {}, is missing{}", path, name, graph_path,
                  did_you_mean(name, names));
    }
    if (const auto shape = expected_shape(graph, type); found->second.shape() != shape)
      throw Error("{}: weight '{}' has shape {}, but {} declares {}", path, name,
                  shape_to_string(found->second.shape()), graph_path, shape_to_string(shape));
    if (result.count(name) == 0)
      result.emplace(name, as_declared(found->second, type.dtype, name, path));
  }
  std::vector<std::string> left_over;
  for (const auto& [name, tensor] : stored)
    if (result.count(name) == 0) left_over.push_back(name);
  if (!left_over.empty())
    throw Error("{}: {} weight{} no parameter of {}: {}", path, left_over.size(),
                left_over.size() == 1 ? " is" : "s are", graph_path, fmt::join(left_over, ", "));
  return result;
}

}  // namespace

void save_model_directory(const Model& model, const std::vector<std::string>& vocabularies,
                          const std::string& directory, const SaveOptions& options) {
  const TensorMap weights = split_quantized_weights(stored_weights(model, options.half));
  const std::vector<std::string> names = vocabulary_names(vocabularies);
  std::vector<std::string> contents;
  for (const std::string& path : vocabularies) contents.push_back(read_file(path));

  const ModelConfig config = {.name = model.graph.name(),
                              .right_left = model.right_left,
                              .vocabularies = names,
                              .decode = options.decode_options};

  make_directory(directory);
  for (std::size_t i = 0; i < names.size(); ++i)
    write_file_atomically(path_in(directory, names[i]), contents[i]);
  write_safetensors(path_in(directory, kWeightsFile), weights, {});
  write_file_atomically(path_in(directory, kGraphFile), print_graph(model.graph));
  write_file_atomically(path_in(directory, kConfigFile), print_model_config(config));
}

LoadedModel load_model_directory(const std::string& directory, const LoadOptions& options) {
  const std::string config_path = path_in(directory, kConfigFile);
  if (std::error_code error; !fs::exists(config_path, error))
    throw Error("{}: this directory has no {}, so it is no model directory", directory,
                kConfigFile);
  ModelConfig config =
      parse_model_config(read_file(config_path), config_path, options.ignore_unknown);
  const std::string graph_path = path_in(directory, kGraphFile);
  const std::string weights_path = path_in(directory, kWeightsFile);

  LoadedModel loaded;
  loaded.decode_options = std::move(config.decode);
  loaded.model.right_left = config.right_left;
  for (const std::string& name : config.vocabularies)
    loaded.model.vocabularies.push_back(path_in(directory, name));
  loaded.model.graph = parse_graph(read_file(graph_path), graph_path, all_ops());
  if (!config.name.empty()) loaded.model.graph.set_name(config.name);
  const TensorMap weights = join_quantized_weights(
      read_safetensors(weights_path).tensors, nibble_lengths(loaded.model.graph), weights_path);
  loaded.model.weights = matched_weights(loaded.model.graph, weights, weights_path, graph_path);
  return loaded;
}

}  // namespace fuselage
