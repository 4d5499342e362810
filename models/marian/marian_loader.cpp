#include "models/marian/marian_loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "base/files/compression.h"
#include "base/files/file.h"
#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "fuselage/models/architectures/architecture.h"
#include "models/architectures/marian_options.h"
#include "models/formats/json.h"
#include "models/formats/marian_bin.h"
#include "models/formats/npz.h"
#include "models/marian/nematus_model.h"
#include "models/marian/nematus_names.h"
#include "models/marian/refused_models.h"

namespace fuselage {
namespace {

/// Throws Error if the configuration's streams or vocabulary sizes differ from the graph's.
void check_streams(const Graph& graph, const ModelOptions& options) {
  for (const std::string& type : options.texts("input-types"))
    if (type != "sequence")
      throw Error(
          fmt::format("{}: input-types has {}, which is not supported; inputs must be "
                      "sequences",
                      options.where(), in_quotes(type)));
  std::vector<std::int64_t> sizes;
  for (std::uint32_t i = 0; i < graph.map_count(); ++i)
    if (const RowMap& map = graph.map(MapId{i}); map.kind == MapKind::word)
      sizes.push_back(graph.domain(map.to).size);
  const std::vector<std::int64_t> stated = options.integers("dim-vocabs");
  for (std::size_t i = 0; i < stated.size(); ++i)
    if (stated[i] != 0 && (i >= sizes.size() || stated[i] != sizes[i]))
      throw Error(fmt::format("{}: dim-vocabs is {}, but the embeddings have {} rows",
                              options.where(), shape_to_string(stated), shape_to_string(sizes)));
}

/// Options that describe the file, whatever its architecture.
void read_general(const ModelOptions& options) {
  for (const char* name : {"original-type", "version", "input-types", "dim-vocabs"})
    options.has(name);
}

struct StoredModel {
  TensorMap tensors;
  std::string config_yaml;
  std::string format;
};

StoredModel read_stored(const std::string& path) {
  if (file_extension(without_compression(path)) == "bin") {
    MarianBinFile file = read_marian_bin(path);
    return {std::move(file.tensors), std::move(file.config_yaml), "Marian .bin"};
  }
  NpzFile file = read_npz(path);
  return {std::move(file.tensors), std::move(file.config_yaml), "Marian .npz"};
}

/// Removes the multipliers of calibration that are not used. Returns notes.
std::vector<std::string> apply_calibration(TensorMap& tensors, Calibration calibration,
                                           const std::string& path) {
  // A record of products without a weight; nothing uses it.
  tensors.erase("none_QuantMultA");
  const auto is_multiplier = [](const auto& item) { return item.first.ends_with("_QuantMultA"); };
  if (calibration == Calibration::ignored) std::erase_if(tensors, is_multiplier);
  if (calibration != Calibration::expected ||
      std::any_of(tensors.begin(), tensors.end(), is_multiplier))
    return {};
  return {fmt::format(
      "{} has no multipliers of calibration (NAME_QuantMultA), which the requested precision uses; "
      "the inputs of its products are quantized by their own numbers",
      path)};
}

std::string model_name(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

}  // namespace

Model load_marian(const std::string& path, const MarianLoadOptions& options) {
  StoredModel file = read_stored(path);
  if (file.config_yaml.empty() && is_nematus_model(file.tensors)) {
    const std::string json = std::string(without_compression(path)) + ".json";
    std::error_code error;
    NematusModel model = read_nematus_model(
        file.tensors,
        std::filesystem::exists(json, error) ? read_file(json, JsonLimits{}.bytes) : std::string(),
        path);
    file = {std::move(model.tensors), std::move(model.config_yaml), "Nematus .npz"};
  }
  if (file.config_yaml.empty())
    throw Error(fmt::format(
        "{}: it has no configuration (special:model.yml), so its architecture is unknown", path));
  const auto config =
      ModelOptions::from_yaml(std::move(file.config_yaml), path, options.ignore_unknown);
  std::vector<std::string> notes = apply_calibration(file.tensors, options.calibration, path);
  refuse_unsupported_model(config, file.tensors);
  if (has_nematus_names(file.tensors))
    file.tensors = rename_nematus_parameters(
        file.tensors, parse_marian_options(config.yaml(), path, options.ignore_unknown));
  read_general(config);
  const bool right_left = config.flag("right-left");
  Model model = build_model(config.text("type", "amun"), config, file.tensors, model_name(path));
  if (!options.ignore_unknown) check_streams(model.graph, config);
  model.right_left = right_left;
  model.notes = std::move(notes);
  model.format = std::move(file.format);
  model.architecture = config.text("type", "amun");
  model.options = config.yaml();
  return model;
}

}  // namespace fuselage
