#include "models/directory/model_configuration.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/files/compression.h"
#include "base/files/file.h"
#include "base/files/yaml.h"
#include "fuselage/base/error.h"
#include "fuselage/models/architectures/architecture.h"
#include "fuselage/models/formats/safetensors.h"

namespace fuselage {
namespace {

namespace fs = std::filesystem;

/// Takes an entry out of a mapping and gives its values; a single one counts as a list.
std::vector<std::string> take_values(YAML::Node& entries, const std::string& key,
                                     const std::string& path) {
  const YAML::Node value = entries[key];
  if (!value.IsDefined()) return {};
  std::vector<std::string> values;
  if (value.IsScalar()) values.push_back(value.Scalar());
  if (value.IsSequence())
    for (const YAML::Node& element : value) {
      if (!element.IsScalar())
        throw Error(fmt::format("{}: '{}' must be a list of file names", path, key));
      values.push_back(element.Scalar());
    }
  if (values.empty()) throw Error(fmt::format("{}: '{}' names no file", path, key));
  entries.remove(key);
  for (std::string& file : values) file = (fs::path(path).parent_path() / file).string();
  return values;
}

}  // namespace

bool is_model_configuration(const std::string& text) {
  try {
    const YAML::Node entries = load_yaml(text, "model configuration");
    return entries.IsMap() && entries["type"].IsDefined() && !entries["models"].IsDefined();
  } catch (const Error&) {
    return false;
  }
}

Model load_model_configuration(const std::string& path, const LoadOptions& options) {
  return parse_model_configuration(read_text(path, YamlLimits{}.bytes), path, options);
}

Model parse_model_configuration(const std::string& text, const std::string& path,
                                const LoadOptions& options) {
  YAML::Node entries = load_yaml(text, path);
  if (!entries.IsMap()) throw Error(fmt::format("{}: it must be a mapping", path));
  const std::vector<std::string> weights = take_values(entries, "weights", path);
  const std::vector<std::string> vocabularies = take_values(entries, "vocabs", path);
  if (weights.size() > 1)
    throw Error(fmt::format("{}: 'weights' must name one file, not {}", path, weights.size()));
  if (vocabularies.size() == 1)
    throw Error(fmt::format("{}: 'vocabs' must name two files, source and target, not 1", path));
  const YAML::Node type = entries["type"];
  if (!type.IsScalar()) throw Error(fmt::format("{}: 'type' must be a name", path));
  const std::string& architecture = type.Scalar();
  const ModelOptions read =
      ModelOptions::from_yaml(YAML::Dump(entries), path, options.ignore_unknown);
  read.text("type");

  const std::string name = fs::path(path).stem().string();
  Model model;
  if (options.random_weights)
    model = build_random_model(architecture, read, *options.random_weights, name);
  else if (!weights.empty())
    model = build_model(architecture, read, read_safetensors(weights.front()), name);
  else
    throw Error(fmt::format(
        "{}: it names no weights; add 'weights', a .safetensors file, or ask for random weights",
        path));
  model.vocabularies = vocabularies;
  model.format = "model configuration";
  model.architecture = architecture;
  model.options = read.yaml();
  return model;
}

}  // namespace fuselage
