#include "models/marian/published_directory.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "base/files/compression.h"
#include "base/files/file.h"
#include "models/formats/json.h"
#include "models/marian/nematus_options.h"
#include "models/marian/published_files.h"

namespace fuselage {
namespace {

namespace fs = std::filesystem;

/// The settings with which Firefox translates.
constexpr DecodeDefaults kFirefoxSettings = {
    .beam_size = 1, .normalize = 1.0f, .word_penalty = 0.0f, .max_length_factor = 2.0f};

/// Makes paths that do not exist relative to the directory, if they exist there.
class Locator {
 public:
  explicit Locator(const std::string& directory) : directory_(directory) {}

  std::string path_of(const std::string& name) const {
    return name.empty() ? "" : (fs::path(directory_) / name).string();
  }

  std::vector<std::string> paths_of(const std::vector<std::string>& names) const {
    std::vector<std::string> paths;
    for (const std::string& name : names) paths.push_back(path_of(name));
    return paths;
  }

  void locate(std::string& path) const {
    if (path.empty() || exists(path)) return;
    for (const fs::path& name : {fs::path(path), fs::path(path).filename()})
      if (const std::string here = with_compression(path_of(name.string())); exists(here)) {
        path = here;
        return;
      }
  }

 private:
  static bool exists(const std::string& path) {
    std::error_code error;
    return fs::exists(path, error);
  }

  const std::string& directory_;
};

/// The vocabularies that the options of Nematus beside a model name, if they are in the directory.
std::vector<std::string> nematus_vocabularies(const std::string& model, const Locator& locator) {
  const std::string json = std::string(without_compression(model)) + ".json";
  std::error_code error;
  if (!fs::exists(json, error)) return {};
  std::vector<std::string> paths =
      parse_nematus_options(read_file(json, JsonLimits{}.bytes), json).dictionaries;
  if (paths.size() != 2) return {};
  for (std::string& path : paths) {
    path = with_compression(locator.path_of(fs::path(path).filename().string()));
    if (!fs::exists(path, error)) return {};
  }
  return paths;
}

/// What a directory is, for people.
std::string format_of(const DecoderConfig& config, bool is_nematus) {
  if (config.format == kAmunFormat) return "Amun directory";
  if (is_nematus) return "Nematus directory";
  if (!config.splitters.empty()) return "OPUS-MT directory";
  const auto is_bin = [](const std::string& path) {
    return file_extension(without_compression(path)) == "bin";
  };
  return std::any_of(config.models.begin(), config.models.end(), is_bin) ? "Firefox directory"
                                                                         : "Marian directory";
}

}  // namespace

DecoderConfig read_published_directory(const std::string& directory, bool ignore_unknown) {
  PublishedFiles files = find_published_files(directory);
  const Locator locator(directory);
  DecoderConfig config;
  bool is_nematus = false;
  if (files.configuration.empty()) {
    config.models = {locator.path_of(files.model)};
    config.weights = {1};
    config.vocabularies = nematus_vocabularies(config.models[0], locator);
    // The names in the options tell the sides apart.
    is_nematus = !config.vocabularies.empty();
    if (is_nematus)
      files.notes.clear();
    else
      config.vocabularies = locator.paths_of(files.vocabularies);
    config.shortlist.path = locator.path_of(files.shortlist);
    if (file_extension(without_compression(files.model)) == "bin") config.decode = kFirefoxSettings;
  } else {
    config = read_decoder_config(locator.path_of(files.configuration), ignore_unknown);
    for (std::string& path : config.models) locator.locate(path);
    for (std::string& path : config.vocabularies) locator.locate(path);
    for (std::string& path : config.splitters) locator.locate(path);
    locator.locate(config.shortlist.path);
    if (config.vocabularies.empty()) config.vocabularies = locator.paths_of(files.vocabularies);
  }
  // Vocabularies in SentencePiece split text by themselves.
  const auto is_spm = [](const std::string& path) {
    return file_extension(without_compression(path)) == "spm";
  };
  if (config.splitters.empty() &&
      std::none_of(config.vocabularies.begin(), config.vocabularies.end(), is_spm))
    config.splitters = locator.paths_of(files.splitters);
  config.format = format_of(config, is_nematus);
  config.notes.insert(config.notes.end(), files.notes.begin(), files.notes.end());
  return config;
}

}  // namespace fuselage
