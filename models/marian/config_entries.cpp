#include "models/marian/config_entries.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/files/compression.h"
#include "base/files/yaml.h"
#include "base/numbers/truth.h"
#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "models/marian/amun_entries.h"
#include "models/marian/unused_options.h"

namespace fuselage {
namespace {

/// Keys with paths of files that are read as a whole, so that they may be compressed.
constexpr std::string_view kFileKeys[] = {"models",    "model",           "vocabs",
                                          "bpe",       "shortlist",       "terminology",
                                          "frequency", "replace-unknowns"};

/// Keys with other paths.
constexpr std::string_view kOtherPathKeys[] = {"input", "output", "train-sets", "weights-cache",
                                               "extension"};

/// Keys with texts of any form.
constexpr std::string_view kTextKeys[] = {"glossary", "passes", "log"};

bool is_path(std::string_view key) {
  return contains(kFileKeys, key) || contains(kOtherPathKeys, key);
}

/// Whether a value disables an option, so that no support is needed.
bool switches_off(std::string_view key, const YAML::Node& value) {
  if (value.IsNull()) return true;
  if (value.IsSequence()) return value.size() == 0;
  if (!value.IsScalar()) return false;
  const std::string& text = value.Scalar();
  if (text.empty() || text == "false") return true;
  // A precision that a configuration states is stated against the one of a file.
  if (text == "float32") return key != "gemm-precision";
  // A dictionary is named, or its option is on or off.
  const bool is_text = is_path(key) && key != "replace-unknowns";
  return !is_text && !contains(kTextKeys, key) && parse_truth(text) == false;
}

bool is_default_of(std::string_view key, const YAML::Node& value) {
  // The model file states its type.
  if (key == "type" || switches_off(key, value)) return true;
  if (value.IsSequence())
    return std::all_of(value.begin(), value.end(),
                       [&](const YAML::Node& element) { return is_default_of(key, element); });
  if (!value.IsScalar()) return false;
  const std::string& text = value.Scalar();
  constexpr std::pair<std::string_view, std::string_view> kInitial[] = {
      {"factors-combine", "sum"},
      {"factor-weight", "1"},
      {"port", "8080"},
      {"n-best-feature", "Score"}};
  return text == "0" || std::ranges::any_of(kInitial, [&](const auto& initial) {
           return initial.first == key && initial.second == text;
         });
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
  if (!is_path(entry.key) || entry.is_off) return 0;
  if (entry.key == "replace-unknowns" && entry.values.size() == 1 && parse_truth(entry.values[0]))
    return 0;
  // The values after a shortlist's path are numbers.
  return entry.key == "shortlist" ? std::min<std::size_t>(1, entry.values.size())
                                  : entry.values.size();
}

/// Names of standard input and output.
bool is_stream(std::string_view path) { return path == "-" || path == "stdin" || path == "stdout"; }

/// Resolves the paths of an entry; `folder`: of the configuration if they are relative to it.
void resolve_paths(ConfigEntry& entry, const std::optional<std::filesystem::path>& folder) {
  for (std::size_t i = 0; i < paths_of(entry); ++i) {
    std::string& path = entry.values[i];
    if (path.empty() || (contains(kOtherPathKeys, entry.key) && is_stream(path))) continue;
    if (folder) path = (*folder / path).string();
    if (contains(kFileKeys, entry.key)) path = with_compression(path);
  }
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
  std::optional<std::filesystem::path> folder;
  if (relative && relative.IsScalar() && parse_truth(relative.Scalar()) == true)
    folder = std::filesystem::path(path).parent_path();
  std::vector<ConfigEntry> entries =
      is_amun_config(config) ? amun_entries(config, path) : marian_entries(config);
  for (ConfigEntry& entry : entries) resolve_paths(entry, folder);
  return entries;
}

const std::vector<std::string>& values_of(const ConfigEntry& entry, const std::string& path) {
  if (!entry.problem.empty())
    throw Error(fmt::format("{}: '{}' {}", path, entry.key, entry.problem));
  return entry.values;
}

std::string ignored_key(const std::string& path, const std::string& key) {
  return fmt::format("{}: {} is ignored", path, in_quotes(key));
}

std::optional<std::string> passed_over_option(const ConfigEntry& entry, const std::string& path) {
  if (entry.is_default || decided_by_model(entry.key)) return std::nullopt;
  const std::string_view reason = reason_against(entry.key);
  return fmt::format("{}: marian-decoder's {} is not supported here and passed over{}{}", path,
                     in_quotes(entry.key), reason.empty() ? "" : ": ", reason);
}

}  // namespace fuselage
