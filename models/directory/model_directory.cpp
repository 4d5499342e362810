#include "fuselage/models/directory/model_directory.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>

#include "base/files/file.h"
#include "base/files/lazy_pages.h"
#include "base/files/mapped_memory.h"
#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "fuselage/base/quantized.h"
#include "fuselage/graph/text.h"
#include "fuselage/models/architectures/architecture.h"
#include "fuselage/models/formats/safetensors.h"
#include "fuselage/ops/registry.h"
#include "models/directory/directory_writer.h"
#include "models/directory/manifest.h"
#include "models/directory/model_config.h"
#include "models/directory/probes_file.h"
#include "models/formats/match_weights.h"
#include "models/formats/quantized_parts.h"

namespace fuselage {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kConfigFile = "config.json";
constexpr std::string_view kGraphFile = "graph.ir";
constexpr std::string_view kWeightsFile = "weights.safetensors";
constexpr std::array<std::string_view, 5> kFixedFiles = {kConfigFile, kGraphFile, kWeightsFile,
                                                         kProbesFile, kManifestFile};
constexpr std::size_t kMaxConfig = std::size_t{1} << 20;
constexpr std::size_t kMaxManifest = std::size_t{1} << 16;

std::string path_in(const std::string& directory, std::string_view file) {
  return (fs::path(directory) / file).string();
}

// Writing.

TensorMap stored_weights(const Model& model, bool half) {
  if (!half) return model.weights;
  TensorMap result;
  for (const auto& [name, tensor] : model.weights) {
    if (is_quantized(tensor.dtype()) || tensor.dtype() == DType::bf16) {
      result.emplace(name, tensor);
      continue;
    }
    Tensor narrow = tensor.to_f16();
    const auto* bits = narrow.data<std::uint16_t>();
    const Tensor wide = tensor.to_f32();
    const auto* numbers = wide.data<float>();
    for (std::int64_t i = 0; i < tensor.size(); ++i)
      if (std::isfinite(numbers[i]) && !std::isfinite(half_to_float(bits[i])))
        throw Error(fmt::format(
            "parameter {} holds {}, which half precision cannot; store the weights in full",
            in_quotes(name), numbers[i]));
    result.emplace(name, std::move(narrow));
  }
  return result;
}

/// The text of the file of probes, which no reader refuses.
std::string probes_text(Probes probes, bool rounded) {
  probes.rounded |= rounded;
  std::string text = print_probes(probes);
  if (text.size() > kMaxProbes)
    throw Error(
        fmt::format("the probe sentences take {} bytes, but {} may have {}; give fewer or "
                    "shorter lines",
                    text.size(), kProbesFile, kMaxProbes));
  parse_probes(text, std::string(kProbesFile));
  return text;
}

/// Names for the copies of vocabularies, splitters and shortlist: the file names, with a prefix if
/// two files have the same name.
std::vector<std::string> names_of_copies(const std::vector<std::string>& paths) {
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

/// Files that a model directory consists of.
std::set<std::string> files_of_model(const std::string& directory) {
  std::set<std::string> files(kFixedFiles.begin(), kFixedFiles.end());
  const std::string path = path_in(directory, kConfigFile);
  try {
    const ModelConfig config = parse_model_config(read_file(path, kMaxConfig), path, true);
    files.insert(config.vocabularies.begin(), config.vocabularies.end());
    files.insert(config.splitters.begin(), config.splitters.end());
    files.insert(config.shortlist.path);
  } catch (const Error&) {
    // The model's other files are then unknown, so all are kept.
  }
  return files;
}

// Reading.

/// Reads each file of a model directory once and compares its digest with the manifest.
class DirectoryReader {
 public:
  DirectoryReader(const std::string& directory, bool verify, std::vector<std::string>& notes)
      : directory_(directory), manifest_path_(path_in(directory, kManifestFile)) {
    if (!verify) return;
    if (std::error_code error; fs::exists(manifest_path_, error))
      manifest_ = parse_manifest(read_file(manifest_path_, kMaxManifest), manifest_path_);
    else
      notes.push_back(
          fmt::format("{} has no {}, so nothing was checked", directory, kManifestFile));
  }

  /// The content of a text file; `path` receives its path.
  std::string read_text(std::string_view file, std::size_t max_bytes, std::string& path) {
    path = path_in(directory_, file);
    std::string bytes = read_file(path, max_bytes);
    if (const auto digest = digest_of(file)) expect_digest(bytes, path, *digest);
    return bytes;
  }

  SafetensorsFile read_weights(std::string& path) {
    path = path_in(directory_, kWeightsFile);
    const MappedFile file = map_file(path);
    if (const auto digest = digest_of(kWeightsFile)) expect_digest(view(file), path, *digest);
    return read_safetensors_file(file, path);
  }

  /// Compares a file of the model that is read later, as a whole.
  void check(std::string_view file) {
    const std::string path = path_in(directory_, file);
    if (const auto digest = digest_of(file)) expect_digest(view(map_file(path)), path, *digest);
  }

  /// The listed digest of a file of the model; nullopt when digests are not checked. Throws Error
  /// when the manifest does not list the file.
  std::optional<ListedDigest> digest_of(std::string_view file) {
    if (!manifest_) return std::nullopt;
    const auto found = manifest_->find(std::string(file));
    if (found == manifest_->end())
      throw Error(fmt::format(
          "{}: it does not list {}, which is part of the model; write the list again with "
          "sha256sum",
          manifest_path_, in_quotes(file)));
    used_.insert(found->first);
    return ListedDigest{found->second, manifest_path_};
  }

  /// Compares the listed files that are not part of the model.
  void check_others() const {
    if (!manifest_) return;
    for (const auto& [name, digest] : *manifest_) {
      const std::string path = path_in(directory_, name);
      if (std::error_code error; !fs::exists(path, error))
        throw Error(fmt::format("{}: it lists {}, which is missing from the directory",
                                manifest_path_, in_quotes(name)));
      if (used_.contains(name)) continue;
      expect_digest(view(map_file(path)), path, {digest, manifest_path_});
    }
  }

 private:
  static std::string_view view(const MappedFile& file) {
    return {reinterpret_cast<const char*>(file.bytes.get()), file.size};
  }

  const std::string& directory_;
  std::string manifest_path_;
  std::optional<Manifest> manifest_;
  std::set<std::string> used_;
};

void read_probes(DirectoryReader& reader, const std::string& directory, bool ignore_unknown,
                 Probes& probes) {
  if (std::error_code error; !fs::exists(path_in(directory, kProbesFile), error)) return;
  std::string path;
  const std::string text = reader.read_text(kProbesFile, kMaxProbes, path);
  probes = parse_probes(text, path, ignore_unknown);
}

/// Reads graph and weights.
void read_graph(DirectoryReader& reader, const ModelConfig& config, Model& model) {
  std::string graph_path, weights_path;
  const std::string graph_text = reader.read_text(kGraphFile, kMaxGraphTextBytes, graph_path);
  model.graph = parse_graph(graph_text, graph_path, all_ops());
  if (!config.name.empty()) model.graph.set_name(config.name);
  model.weights = match_weights(model.graph, reader.read_weights(weights_path).tensors,
                                weights_path, graph_path);
}

/// Reads the weights, and builds the graph by its architecture.
void build_graph(DirectoryReader& reader, const ModelConfig& config, const std::string& directory,
                 const std::string& config_path, bool ignore_unknown, Model& model) {
  if (std::error_code error; fs::exists(path_in(directory, kGraphFile), error))
    throw Error(
        fmt::format("{}: it names the architecture {}, but the directory has a {}; remove "
                    "one of the two",
                    config_path, in_quotes(config.architecture), kGraphFile));
  std::string weights_path;
  const TensorMap stored = reader.read_weights(weights_path).tensors;
  const auto options = ModelOptions::from_yaml(config.options, config_path, ignore_unknown);
  Model built = build_model(config.architecture, options,
                            join_quantized_weights(stored, {}, weights_path), config.name);
  model.graph = std::move(built.graph);
  model.weights = std::move(built.weights);
}

/// Copies the weights that lie in a file, which would otherwise stay in memory as a whole until the
/// last of them is used.
void leave_file(TensorMap& weights) {
  for (auto& [name, tensor] : weights) {
    if (tensor.mapped_bytes().empty()) continue;
    Tensor copy(tensor.dtype(), tensor.shape());
    std::memcpy(copy.mutable_bytes(), tensor.bytes(), tensor.size_bytes());
    tensor = std::move(copy);
  }
}

}  // namespace

void expect_copied_name(const std::string& path) {
  const std::string name = fs::path(path).filename().string();
  if (std::find(kFixedFiles.begin(), kFixedFiles.end(), name) != kFixedFiles.end())
    throw Error(fmt::format("{}: a file that comes with a model cannot be called {}; rename it",
                            path, name));
  if (name.find_first_of("\n\r\\") != std::string::npos)
    throw Error(
        fmt::format("{}: {} cannot list a name with a line break or a backslash; rename the file",
                    in_quotes(path), kManifestFile));
}

void expect_replaceable(const std::string& directory) {
  std::error_code error;
  const fs::file_status status = fs::status(directory, error);
  if (!fs::exists(status)) return;
  if (!fs::is_directory(status))
    throw Error(fmt::format("cannot make the directory {}: it is a file", directory));
  std::vector<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, error))
    names.push_back(entry.path().filename().string());
  if (error)
    throw Error(fmt::format("cannot read the directory {}: {}", directory, error.message()));
  if (names.empty()) return;
  if (std::find(names.begin(), names.end(), kConfigFile) == names.end())
    throw Error(
        fmt::format("{}: the directory holds files but no model; give a new directory", directory));
  const std::set<std::string> files = files_of_model(directory);
  for (const std::string& name : names)
    if (!files.contains(name))
      throw Error(fmt::format(
          "{}: the directory holds {}, which is no part of its model and would be lost; move it "
          "away, or give a new directory",
          directory, in_quotes(name)));
}

void save_model_directory(const Model& model, const std::vector<std::string>& vocabularies,
                          const std::string& directory, const SaveOptions& options) {
  expect_replaceable(directory);
  std::vector<std::string> files = vocabularies;
  files.insert(files.end(), model.splitters.begin(), model.splitters.end());
  if (!model.shortlist.path.empty()) files.push_back(model.shortlist.path);
  for (const std::string& path : files) expect_copied_name(path);
  const TensorMap weights = split_quantized_weights(stored_weights(model, options.half));
  const std::vector<std::string> names = names_of_copies(files);
  const auto splitters = names.begin() + static_cast<std::ptrdiff_t>(vocabularies.size());
  const auto shortlist = splitters + static_cast<std::ptrdiff_t>(model.splitters.size());
  std::vector<std::string> contents;
  for (const std::string& path : files) {
    contents.push_back(read_file(path));
    const auto digest = model.vocabulary_digests.find(path);
    if (digest != model.vocabulary_digests.end())
      expect_digest(contents.back(), path, digest->second);
  }
  ModelConfig config = {.name = model.graph.name(),
                        .right_left = model.right_left,
                        .vocabularies = {names.begin(), splitters},
                        .splitters = {splitters, shortlist},
                        .text = model.text,
                        .shortlist = model.shortlist,
                        .decode = model.decode};
  if (shortlist != names.end()) config.shortlist.path = *shortlist;

  DirectoryWriter writer(directory);
  Manifest manifest;
  const auto write = [&](std::string_view name, std::string_view bytes) {
    write_file_atomically(writer.path_of(name), bytes);
    manifest.insert_or_assign(std::string(name), sha256(bytes));
  };
  for (std::size_t i = 0; i < names.size(); ++i) write(names[i], contents[i]);
  write(kGraphFile, print_graph(model.graph));
  write(kConfigFile, print_model_config(config));
  if (!model.probes.lines.empty()) write(kProbesFile, probes_text(model.probes, options.half));
  const std::string weights_path = writer.path_of(kWeightsFile);
  write_safetensors(weights_path, weights, {});
  const MappedFile written = map_file(weights_path);
  manifest.emplace(kWeightsFile,
                   sha256({reinterpret_cast<const char*>(written.bytes.get()), written.size}));
  write_file_atomically(writer.path_of(kManifestFile), print_manifest(manifest));
  writer.commit();
}

bool is_model_directory(const std::string& directory) {
  std::error_code error;
  return fs::exists(path_in(directory, kConfigFile), error);
}

Model load_model_directory(const std::string& directory, const LoadOptions& options) {
  if (!is_model_directory(directory))
    throw Error(fmt::format("{}: this directory has no {}, so it is no model directory", directory,
                            kConfigFile));
  Model model;
  DirectoryReader reader(directory, options.verify, model.notes);
  std::string config_path;
  const std::string config_text = reader.read_text(kConfigFile, kMaxConfig, config_path);
  const ModelConfig config = parse_model_config(config_text, config_path, options.ignore_unknown);
  model.decode = config.decode;
  model.right_left = config.right_left;
  model.text = config.text;
  const auto add_file = [&](const std::string& name, std::vector<std::string>& paths) {
    paths.push_back(path_in(directory, name));
    if (auto digest = reader.digest_of(name))
      model.vocabulary_digests.emplace(paths.back(), *std::move(digest));
  };
  for (const std::string& name : config.vocabularies) add_file(name, model.vocabularies);
  for (const std::string& name : config.splitters) add_file(name, model.splitters);
  if (!config.shortlist.path.empty()) {
    reader.check(config.shortlist.path);
    model.shortlist = config.shortlist;
    model.shortlist.path = path_in(directory, config.shortlist.path);
  }
  if (config.architecture.empty())
    read_graph(reader, config, model);
  else
    build_graph(reader, config, directory, config_path, options.ignore_unknown, model);
  if (!pages_are_lazy()) leave_file(model.weights);
  read_probes(reader, directory, options.ignore_unknown, model.probes);
  reader.check_others();
  model.format = "Fuselage model directory";
  model.architecture = config.architecture;
  model.options = config.options;
  return model;
}

}  // namespace fuselage
