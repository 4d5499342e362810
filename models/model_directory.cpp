#include "models/model_directory.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <system_error>

#include "base/error.h"
#include "base/file.h"
#include "base/suggest.h"
#include "graph/text.h"
#include "models/safetensors.h"
#include "ops/registry.h"

namespace fuselage {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int kFormatVersion = 1;
constexpr std::string_view kConfigFile = "config.json";
constexpr std::string_view kGraphFile = "graph.ir";
constexpr std::string_view kWeightsFile = "weights.safetensors";
constexpr std::array<std::string_view, 5> kConfigKeys = {"fuselage-model", "name", "right-left",
                                                         "vocabularies", "decode"};
/// Options that a model may bring defaults for: those that shape a search, and batch sizes.
constexpr std::array<std::string_view, 10> kDecodeKeys = {
    "beam-size", "normalize",  "word-penalty", "max-length-factor", "max-length",
    "allow-unk", "mini-batch", "maxi-batch",   "maxi-batch-sort",   "mini-batch-words"};

std::string path_in(const std::string& directory, std::string_view file) {
  return (fs::path(directory) / file).string();
}

// Writing.

TensorMap stored_weights(const Model& model, bool half) {
  if (!half) return model.weights;
  TensorMap result;
  for (const auto& [name, tensor] : model.weights) {
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

/// A number or a truth value where the text is one, so that the file reads naturally.
Json as_json(const std::string& text) {
  const Json value = Json::parse(text, nullptr, false);
  return value.is_number() || value.is_boolean() ? value : Json(text);
}

void make_directory(const std::string& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) throw Error("cannot make the directory {}: {}", directory, error.message());
}

// Reading.

void check_keys(const Json& object, std::span<const std::string_view> known,
                const std::string& where, bool ignore_unknown) {
  for (const auto& [key, value] : object.items())
    if (!ignore_unknown && std::find(known.begin(), known.end(), key) == known.end())
      throw Error("{}: unknown key {}{}", where, in_quotes(key), did_you_mean(key, known));
}

/// Value of a key of the expected JSON type.
template <typename T>
T get(const Json& object, std::string_view key, T fallback, std::string_view kind,
      const std::string& where) {
  const auto found = object.find(key);
  if (found == object.end()) return fallback;
  try {
    return found->template get<T>();
  } catch (const Json::exception&) {
    throw Error("{}: '{}' must be {}, not {}", where, key, kind, in_quotes(found->dump()));
  }
}

Json read_config(const std::string& path, bool ignore_unknown) {
  const std::string bytes = read_file(path);
  Json config = Json::parse(bytes, nullptr, false);
  if (!config.is_object()) throw Error("{}: this is no JSON object; the file is damaged", path);
  const auto version = config.find("fuselage-model");
  if (version == config.end())
    throw Error("{}: 'fuselage-model', the version of the format, is missing", path);
  if (*version != kFormatVersion)
    throw Error("{}: version {} of the format is not known, only {}; convert the model again", path,
                in_quotes(version->dump()), kFormatVersion);
  check_keys(config, kConfigKeys, path, ignore_unknown);
  return config;
}

std::map<std::string, std::string> decode_options(const Json& config, const std::string& path,
                                                  bool ignore_unknown) {
  std::map<std::string, std::string> options;
  const auto decode = config.find("decode");
  if (decode == config.end()) return options;
  if (!decode->is_object()) throw Error("{}: 'decode' must be an object of options", path);
  check_keys(*decode, kDecodeKeys, path + ": decode", ignore_unknown);
  for (const auto& [key, value] : decode->items()) {
    if (std::find(kDecodeKeys.begin(), kDecodeKeys.end(), key) == kDecodeKeys.end()) continue;
    if (value.is_structured() || value.is_null())
      throw Error("{}: decode: '{}' must be a single value, not {}", path, key,
                  in_quotes(value.dump()));
    options[key] = value.is_string() ? value.get<std::string>() : value.dump();
  }
  return options;
}

std::vector<std::string> vocabulary_paths(const Json& config, const std::string& directory,
                                          const std::string& path) {
  const auto names =
      get<std::vector<std::string>>(config, "vocabularies", {}, "a list of file names", path);
  std::vector<std::string> paths;
  for (const std::string& name : names) {
    if (name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos)
      throw Error("{}: vocabulary {} must be a file in the model directory", path, in_quotes(name));
    paths.push_back(path_in(directory, name));
  }
  if (!paths.empty() && paths.size() != 2)
    throw Error("{}: 'vocabularies' must name two files, source and target, not {}", path,
                paths.size());
  return paths;
}

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
  throw Error("{}: weight '{}' is {}, but the graph declares {}", path, name,
              to_string(tensor.dtype()), to_string(dtype));
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
  const TensorMap weights = stored_weights(model, options.half);
  const std::vector<std::string> names = vocabulary_names(vocabularies);
  std::vector<std::string> contents;
  for (const std::string& path : vocabularies) contents.push_back(read_file(path));

  Json config;
  config["fuselage-model"] = kFormatVersion;
  config["name"] = model.graph.name();
  config["right-left"] = model.right_left;
  if (!names.empty()) config["vocabularies"] = names;
  for (const auto& [key, value] : options.decode_options) config["decode"][key] = as_json(value);

  make_directory(directory);
  for (std::size_t i = 0; i < names.size(); ++i)
    write_file_atomically(path_in(directory, names[i]), contents[i]);
  write_safetensors(path_in(directory, kWeightsFile), weights, {});
  write_file_atomically(path_in(directory, kGraphFile), print_graph(model.graph));
  const std::string text =
      config.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  write_file_atomically(path_in(directory, kConfigFile), text + "\n");
}

LoadedModel load_model_directory(const std::string& directory, const LoadOptions& options) {
  const std::string config_path = path_in(directory, kConfigFile);
  if (std::error_code error; !fs::exists(config_path, error))
    throw Error("{}: this directory has no {}, so it is no model directory", directory,
                kConfigFile);
  const Json config = read_config(config_path, options.ignore_unknown);
  const std::string graph_path = path_in(directory, kGraphFile);
  const std::string weights_path = path_in(directory, kWeightsFile);

  LoadedModel loaded;
  loaded.decode_options = decode_options(config, config_path, options.ignore_unknown);
  loaded.model.right_left = get<bool>(config, "right-left", false, "true or false", config_path);
  loaded.model.vocabularies = vocabulary_paths(config, directory, config_path);
  loaded.model.graph = parse_graph(read_file(graph_path), graph_path, all_ops());
  const auto name =
      get<std::string>(config, "name", loaded.model.graph.name(), "a text", config_path);
  loaded.model.graph.set_name(name);
  loaded.model.weights = matched_weights(loaded.model.graph, read_safetensors(weights_path).tensors,
                                         weights_path, graph_path);
  return loaded;
}

}  // namespace fuselage
