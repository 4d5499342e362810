#include "tools/options/named_models.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/files/compression.h"
#include "base/files/file.h"
#include "fuselage/base/error.h"
#include "fuselage/base/extension.h"
#include "fuselage/models/architectures/ensemble.h"
#include "fuselage/models/bundled_model.h"
#include "fuselage/models/load_model.h"
#include "models/decode_keys.h"
#include "text/pages/sentence_boundaries.h"
#include "tools/options/number_options.h"
#include "tools/options/validators.h"

namespace fuselage {
namespace {

namespace fs = std::filesystem;

/// By the short codes of the languages: "de" for "deu_Latn". Empty: there is none.
std::string bundled_by_short_codes(const ModelChoice& choice) {
  try {
    return find_bundled_model(base_language(choice.source_language),
                              base_language(choice.target_language));
  } catch (const Error&) {
    return "";
  }
}

std::string bundled_model(const ModelChoice& choice) {
  try {
    return find_bundled_model(choice.source_language, choice.target_language);
  } catch (const Error& error) {
    if (std::string found = bundled_by_short_codes(choice); !found.empty()) return found;
    throw Error(fmt::format("no model is given with -m, and {}", error.what()));
  }
}

/// A bundled model that states no languages has those by which it was chosen.
void state_languages(Model& model, const ModelChoice& choice) {
  TextFormat& text = model.text;
  if (!text.languages.empty() || !text.source_language.empty() || !text.target_language.empty())
    return;
  text.source_language = choice.source_language;
  text.target_language = choice.target_language;
}

/// Files that the model at `path` was read from.
std::vector<std::string> files_of(const std::string& path, const Model& model) {
  std::vector<std::string> files = model.vocabularies;
  files.insert(files.end(), model.splitters.begin(), model.splitters.end());
  files.push_back(path);
  if (!model.shortlist.path.empty()) files.push_back(model.shortlist.path);
  for (const char* name : {"config.json", "graph.ir", "weights.safetensors", "probes.json",
                           "SHA256SUMS", "model.bin", "metadata.json"})
    files.push_back((fs::path(path) / name).string());
  return files;
}

/// Throws Error for a text among the models: an option of several values consumes all arguments up
/// to the next option.
void expect_models(const std::vector<std::string>& paths) {
  for (std::size_t i = 1; i < paths.size(); ++i) {
    std::error_code error;
    const fs::path extension = fs::path(without_compression(paths[i])).extension();
    if (extension != ".npz" && extension != ".bin" && extension != ".yml" &&
        extension != ".argosmodel" && fs::is_regular_file(paths[i], error))
      throw Error(fmt::format(
          "{} stands behind -m but is no model; give a text before the options, or with -i",
          paths[i]));
  }
}

/// Throws Error for a default of the last member that differs from an earlier one's, unless
/// `is_decided`: then the member's is dropped.
void unify_defaults(std::vector<EnsembleMember>& members, const IsDecided& is_decided) {
  EnsembleMember& last = members.back();
  for (const EnsembleMember& earlier : members)
    for (const std::string_view key : decode_keys()) {
      const auto known = decode_text(earlier.model.decode, key);
      const auto value = decode_text(last.model.decode, key);
      if (!known || !value || *known == *value) continue;
      if (!is_decided(std::string(key)))
        throw Error(fmt::format(
            "{} has {} for --{}, but {} has {}; give --{} to say which counts, or make them agree",
            earlier.where, *known, key, last.where, *value, key));
      clear_decode_default(last.model.decode, key);
    }
}

/// Loads a model by its own file.
Model load_named_model(const std::string& path, const ModelChoice& choice) {
  return load_model(path, {.ignore_unknown = choice.ignore_unknown,
                           .verify = !choice.no_verify,
                           .calibration = choice.calibration,
                           .random_weights = choice.random_weights});
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
  app.add_option(
         names, paths,
         "A Marian .npz or .bin file, a model directory, or a directory of published files "
         "(Hugging Face, CTranslate2, Firefox, OPUS-MT, Nematus, Amun), an .argosmodel "
         "package, a .yml file that names an architecture, or the name of a bundled model, such "
         "as de-en; several are an ensemble")
      ->type_name("FILE")
      ->default_str("the bundled model");
  add_numbers(app, "--weights", weights,
              "For each model of an ensemble, what its log-probabilities are multiplied by "
              "before they are added up",
              range_of("weights"))
      ->default_str("1");
  app.add_flag("--ignore-unknown-config", ignore_unknown,
               "Go on past configuration keys that are unknown or not supported");
  app.add_flag("--no-verify", no_verify,
               "Do not compare the files of a model directory with its SHA256SUMS");
  add_number(app, "--random-weights", random_weights,
             "Make random weights for the architecture that a .yml file names, by this seed",
             {0, 4294967295.0})
      ->type_name("SEED");
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
  std::vector<std::string> paths =
      choice.paths.empty() ? std::vector{bundled_model(choice)} : choice.paths;
  std::ranges::transform(paths, paths.begin(), model_path);
  const std::vector<double> weights =
      choice.weights.empty() ? std::vector<double>(paths.size(), 1) : choice.weights;
  if (weights.size() != paths.size())
    throw Error(fmt::format("--weights has {} number{}, but there {} {} model{}; give one for each",
                            weights.size(), weights.size() == 1 ? "" : "s",
                            paths.size() == 1 ? "is" : "are", paths.size(),
                            paths.size() == 1 ? "" : "s"));
  expect_models(paths);
  NamedModel result;
  result.path = fmt::format("{}", fmt::join(paths, ", "));
  std::vector<EnsembleMember> members;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    Model model = load_named_model(paths[i], choice);
    for (std::string& file : files_of(paths[i], model)) result.files.push_back(std::move(file));
    if (choice.paths.empty()) state_languages(model, choice);
    if (own_vocabularies) model.vocabularies.clear();
    members.push_back({std::move(model), weights[i], paths[i]});
    unify_defaults(members, is_decided);
  }
  result.model = join_models(std::move(members));
  return result;
}

}  // namespace fuselage
