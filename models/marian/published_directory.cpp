#include "models/marian/published_directory.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "base/compression.h"
#include "base/file.h"
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

}  // namespace

DecoderConfig read_published_directory(const std::string& directory, bool ignore_unknown) {
  const PublishedFiles files = find_published_files(directory);
  const Locator locator(directory);
  DecoderConfig config;
  if (files.configuration.empty()) {
    config.models = {locator.path_of(files.model)};
    config.weights = {1};
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
  config.notes.insert(config.notes.end(), files.notes.begin(), files.notes.end());
  return config;
}

}  // namespace fuselage
