#include "fuselage/models/bundled_model.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/machine/library_path.h"
#include "base/suggest.h"
#include "fuselage/base/error.h"

namespace fuselage {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDefaultModel = "en-de";

bool is_model(const fs::path& path) {
  std::error_code error;
  return fs::exists(path / "config.json", error);
}

/// The folder that the environment names; empty: none.
std::string named_folder() {
  const char* models = std::getenv("FUSELAGE_MODELS");
  return models == nullptr ? "" : models;
}

/// Possible folders of bundled models, in order: in a build, and installed.
std::vector<std::string> folders() {
  if (std::string named = named_folder(); !named.empty()) return {std::move(named)};
  const fs::path directory = library_path().parent_path();
  return {(directory / "models").string(),
          (directory / FUSELAGE_DATA_FROM_LIBRARY / "models").lexically_normal().string()};
}

/// Whether `name` is SOURCE-TARGET; a language that is empty is any.
bool is_pair(std::string_view name, std::string_view source, std::string_view target) {
  const std::size_t hyphen = name.find('-');
  if (hyphen == std::string_view::npos) return false;
  return (source.empty() || name.substr(0, hyphen) == source) &&
         (target.empty() || name.substr(hyphen + 1) == target);
}

/// The names of the models in a folder, in order.
std::set<std::string> models_in(const std::string& folder) {
  std::set<std::string> names;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
    if (is_model(entry.path())) names.insert(entry.path().filename().string());
  return names;
}

[[noreturn]] void refuse_places(const std::vector<std::string>& places, std::string_view name) {
  throw Error(fmt::format(
      "there is no bundled model in {}; set FUSELAGE_MODELS to the directory that holds {}",
      fmt::join(places, ", "), name));
}

std::string find_default_model() {
  std::vector<std::string> places;
  for (const std::string& folder : folders())
    places.push_back((fs::path(folder) / kDefaultModel).string());
  if (std::string named = named_folder(); !named.empty()) places.push_back(std::move(named));
  for (const std::string& place : places)
    if (is_model(place)) return place;
  refuse_places(places, kDefaultModel);
}

}  // namespace

std::string find_bundled_model(std::string_view source, std::string_view target) {
  if (source.empty() && target.empty()) return find_default_model();
  std::set<std::string> others;
  for (const std::string& folder : folders()) {
    // The model itself; whoever loads it compares its languages.
    if (is_model(folder)) return folder;
    const std::set<std::string> names = models_in(folder);
    const auto found = std::ranges::find_if(
        names, [&](const std::string& name) { return is_pair(name, source, target); });
    if (found != names.end()) return (fs::path(folder) / *found).string();
    others.insert(names.begin(), names.end());
  }
  throw Error(fmt::format("there is no bundled model{}{}; there {} {}",
                          source.empty() ? "" : fmt::format(" from {}", in_quotes(source)),
                          target.empty() ? "" : fmt::format(" to {}", in_quotes(target)),
                          others.size() == 1 ? "is" : "are",
                          others.empty() ? "none" : fmt::to_string(fmt::join(others, ", "))));
}

std::vector<std::string> find_bundled_models() {
  for (const std::string& folder : folders()) {
    if (is_model(folder)) return {folder};
    std::vector<std::string> paths;
    for (const std::string& name : models_in(folder))
      if (name.find('-') != std::string::npos) paths.push_back((fs::path(folder) / name).string());
    std::stable_partition(paths.begin(), paths.end(), [](const std::string& path) {
      return fs::path(path).filename() == kDefaultModel;
    });
    if (!paths.empty()) return paths;
  }
  refuse_places(folders(), "them");
}

std::string model_path(const std::string& path) {
  std::error_code error;
  if (path.empty() || fs::exists(path, error)) return path;
  for (const std::string& folder : folders()) {
    const fs::path place(folder);
    if (is_model(place) && place.filename() == path) return folder;
    if (models_in(folder).contains(path)) return (place / path).string();
  }
  return path;
}

}  // namespace fuselage
