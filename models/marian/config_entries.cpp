#include "models/marian/config_entries.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "base/compression.h"
#include "base/suggest.h"
#include "base/yaml.h"
#include "fuselage/base/error.h"
#include "models/marian/amun_entries.h"

namespace fuselage {
namespace {

/// Whether a value disables an option, so that no support is needed.
bool switches_off(std::string_view key, const YAML::Node& value) {
  if (value.IsNull()) return true;
  if (value.IsSequence()) return value.size() == 0;
  if (!value.IsScalar()) return false;
  const std::string& text = value.Scalar();
  // A precision that a configuration states is stated against the one of a file.
  return text.empty() || text == "false" || (text == "float32" && key != "gemm-precision");
}

bool is_default_of(std::string_view key, const YAML::Node& value) {
  // The model file states its type.
  if (key == "type" || switches_off(key, value)) return true;
  if (value.IsSequence())
    return std::all_of(value.begin(), value.end(),
                       [&](const YAML::Node& element) { return is_default_of(key, element); });
  if (!value.IsScalar()) return false;
  const std::string& text = value.Scalar();
  return text == "0" || (key == "factors-combine" && text == "sum") ||
         (key == "factor-weight" && text == "1");
}

/// Sets values and problem.
void read_values(const YAML::Node& node, ConfigEntry& entry) {
  if (node.IsScalar()) {
    entry.values = {node.Scalar()};
    return;
  }
  if (node.IsMap()) {
    entry.problem = "is a mapping; a single value or a list is needed";
    return;
  }
  if (node.IsSequence())
    for (const YAML::Node& element : node) {
      if (!element.IsScalar()) {
        entry.problem = "must be a list of single values";
        return;
      }
      entry.values.push_back(element.Scalar());
    }
  if (entry.values.empty()) entry.problem = "has no value";
}

/// The number of the first values of `entry` that are paths.
std::size_t paths_of(const ConfigEntry& entry) {
  if (entry.key == "models" || entry.key == "vocabs" || entry.key == "bpe")
    return entry.values.size();
  // The values after a shortlist's path are numbers.
  return entry.key == "shortlist" ? std::min<std::size_t>(1, entry.values.size()) : 0;
}

std::vector<ConfigEntry> marian_entries(const YAML::Node& config) {
  std::vector<ConfigEntry> entries;
  for (const auto& item : config) {
    ConfigEntry entry{.key = item.first.Scalar()};
    std::replace(entry.key.begin(), entry.key.end(), '_', '-');
    entry.is_off = switches_off(entry.key, item.second);
    entry.is_default = is_default_of(entry.key, item.second);
    read_values(item.second, entry);
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace

std::optional<std::vector<ConfigEntry>> parse_config(std::string_view text,
                                                     const std::string& path) {
  const YAML::Node config = load_yaml(text, path);
  if (!config.IsMap()) return std::nullopt;
  const YAML::Node relative = config["relative-paths"];
  const bool relative_paths = relative && relative.IsScalar() && is_true_in_yaml(relative.Scalar());
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::vector<ConfigEntry> entries =
      is_amun_config(config) ? amun_entries(config, path) : marian_entries(config);
  for (ConfigEntry& entry : entries)
    for (std::size_t i = 0; i < paths_of(entry); ++i) {
      if (relative_paths) entry.values[i] = (folder / entry.values[i]).string();
      entry.values[i] = with_compression(entry.values[i]);
    }
  return entries;
}

bool is_true_in_yaml(std::string_view text) {
  return text == "true" || text == "True" || text == "yes" || text == "Yes" || text == "on";
}

bool is_false_in_yaml(std::string_view text) {
  return text == "false" || text == "False" || text == "no" || text == "No" || text == "off";
}

const std::vector<std::string>& values_of(const ConfigEntry& entry, const std::string& path) {
  if (!entry.problem.empty())
    throw Error(fmt::format("{}: '{}' {}", path, entry.key, entry.problem));
  return entry.values;
}

std::string ignored_key(const std::string& path, const std::string& key) {
  return fmt::format("{}: {} is ignored", path, in_quotes(key));
}

}  // namespace fuselage
