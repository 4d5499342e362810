#include "tools/options/named_models.h"

#include <fmt/ranges.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/error.h"
#include "base/extension.h"
#include "models/architectures/ensemble.h"
#include "models/load_model.h"
#include "tools/options/validators.h"

namespace fuselage {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBundledModel = "en-de";

/// Possible paths of the bundled model, in order.
std::vector<fs::path> bundled_places() {
  std::vector<fs::path> places;
  if (const char* models = std::getenv("FUSELAGE_MODELS"); models != nullptr && *models != '\0')
    return {fs::path(models) / kBundledModel, models};
  std::error_code error;
  const fs::path executable = fs::read_symlink("/proc/self/exe", error);
  if (!error) {
    const fs::path directory = executable.parent_path();
    places.push_back(directory / "models" / kBundledModel);
    places.push_back(directory.parent_path() / "share" / "fuselage" / "models" / kBundledModel);
  }
  places.push_back(fs::path(FUSELAGE_SOURCE_DIR) / "models" / kBundledModel);
  return places;
}

std::string find_bundled_model() {
  std::vector<std::string> looked;
  for (const fs::path& place : bundled_places()) {
    std::error_code error;
    if (fs::exists(place / "config.json", error)) return place.string();
    looked.push_back(place.string());
  }
  throw Error(
      "no model is given with -m, and there is no bundled model in {}; set FUSELAGE_MODELS "
      "to the directory that holds {}",
      fmt::join(looked, ", "), kBundledModel);
}

/// Files that the model at `path` was read from.
std::vector<std::string> files_of(const std::string& path, const Model& model) {
  std::vector<std::string> files = model.vocabularies;
  files.push_back(path);
  for (const char* name : {"config.json", "graph.ir", "weights.safetensors", "SHA256SUMS"})
    files.push_back((fs::path(path) / name).string());
  return files;
}

/// Throws Error for a text among the models: an option of several values consumes all arguments up
/// to the next option.
void expect_models(const std::vector<std::string>& paths) {
  for (std::size_t i = 1; i < paths.size(); ++i) {
    std::error_code error;
    const fs::path extension = fs::path(paths[i]).extension();
    if (extension != ".npz" && extension != ".bin" && fs::is_regular_file(paths[i], error))
      throw Error("{} stands behind -m but is no model; give a text before the options, or with -i",
                  paths[i]);
  }
}

/// Adds the defaults of one model to the defaults of `all`; `origins` has the path of the model of
/// each default.
void add_defaults(const LoadedModel& loaded, const std::string& path, const IsDecided& is_decided,
                  NamedModel& all, std::map<std::string, std::string>& origins) {
  for (const auto& [name, value] : loaded.decode_options) {
    const auto [known, added] = all.decode_options.emplace(name, value);
    if (added)
      origins.emplace(name, path);
    else if (known->second != value && !is_decided(name))
      throw Error(
          "{} has {} for --{}, but {} has {}; give --{} to say which counts, or make them agree",
          origins.at(name), known->second, name, path, value, name);
  }
}

}  // namespace

void add_extension_option(CLI::App& app, std::vector<std::string>& extensions) {
  app.add_option("--extension", extensions,
                 "A library that registers ops, passes, kernels or architectures; once for each")
      ->type_name("FILE")
      ->expected(1)
      ->take_all();
}

void ModelChoice::add_to(CLI::App& app, const std::string& names) {
  app.add_option(names, paths,
                 "A Marian .npz or .bin file, or a model directory; several are an ensemble")
      ->type_name("FILE")
      ->default_str("the bundled model");
  app.add_option("--weights", weights,
                 "For each model of an ensemble, what its log-probabilities are multiplied by "
                 "before they are added up")
      ->default_str("1")
      ->check(limits_of("weights"));
  app.add_flag("--ignore-unknown-config", ignore_unknown,
               "Go on past configuration keys that are unknown or not supported");
  app.add_flag("--no-verify", no_verify,
               "Do not compare the files of a model directory with its SHA256SUMS");
  add_extension_option(app, extensions);
}

IsDecided decided_by(Options& options) {
  return [&options](const std::string& name) {
    const CLI::Option* option = options.app().get_option_no_throw("--" + name);
    return option == nullptr || option->count() > 0;
  };
}

NamedModel load_named_models(const ModelChoice& choice, bool own_vocabularies,
                             const IsDecided& is_decided) {
  for (const std::string& extension : choice.extensions) load_extension(extension);
  const std::vector<std::string> paths =
      choice.paths.empty() ? std::vector{find_bundled_model()} : choice.paths;
  const std::vector<double> weights =
      choice.weights.empty() ? std::vector<double>(paths.size(), 1) : choice.weights;
  if (weights.size() != paths.size())
    throw Error("--weights has {} number{}, but there {} {} model{}; give one for each",
                weights.size(), weights.size() == 1 ? "" : "s", paths.size() == 1 ? "is" : "are",
                paths.size(), paths.size() == 1 ? "" : "s");
  expect_models(paths);
  NamedModel result;
  result.path = fmt::format("{}", fmt::join(paths, ", "));
  std::map<std::string, std::string> origins;
  std::vector<EnsembleMember> members;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    LoadedModel loaded = load_model(
        paths[i], {.ignore_unknown = choice.ignore_unknown, .verify = !choice.no_verify});
    for (std::string& file : files_of(paths[i], loaded.model))
      result.files.push_back(std::move(file));
    add_defaults(loaded, paths[i], is_decided, result, origins);
    if (own_vocabularies) loaded.model.vocabularies.clear();
    members.push_back({std::move(loaded.model), weights[i], paths[i]});
  }
  const bool alone = members.size() == 1 && weights[0] == 1;
  result.model = alone ? std::move(members[0].model) : make_ensemble(std::move(members));
  return result;
}

}  // namespace fuselage
