#include "fuselage/models/load_model.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/files/compression.h"
#include "base/files/file.h"
#include "base/files/yaml.h"
#include "fuselage/base/error.h"
#include "fuselage/base/stack.h"
#include "fuselage/models/architectures/ensemble.h"
#include "fuselage/models/bundled_model.h"
#include "fuselage/models/directory/model_directory.h"
#include "models/ctranslate2/argos.h"
#include "models/ctranslate2/directory.h"
#include "models/decode_keys.h"
#include "models/directory/model_configuration.h"
#include "models/finite_weights.h"
#include "models/formats/foreign_models.h"
#include "models/huggingface/config_files.h"
#include "models/huggingface/huggingface_directory.h"
#include "models/marian/decoder_config.h"
#include "models/marian/marian_loader.h"
#include "models/marian/published_directory.h"

namespace fuselage {
namespace {

constexpr std::string_view kSupported =
    "a Marian model (.npz or .bin), a Fuselage model directory, a directory of Hugging Face's "
    "Transformers, of CTranslate2 or of published files, or a package of Argos Translate can be "
    "loaded";

[[noreturn]] void refuse(const std::string& path) {
  const std::string_view extension = file_extension(path);
  if (extension == "ir" || extension == "safetensors" || path.ends_with("config.json"))
    throw Error(fmt::format(
        "{}: this is one file of a model directory; give the directory that holds it", path));
  throw Error(fmt::format("{}: this is no model format that is known by its extension; {}", path,
                          kSupported));
}

bool is_yaml(const std::string& path) {
  const std::string_view extension = file_extension(path);
  return extension == "yml" || extension == "yaml";
}

/// The precision of a model's stored integers, in which its products run without further loss.
std::optional<Precision> stored_precision(const Model& model) {
  std::optional<Precision> precision;
  for (const auto& [name, tensor] : model.weights) {
    if (tensor.dtype() == DType::qint8) return Precision::int8;
    if (tensor.dtype() == DType::qint16) precision = Precision::int16;
  }
  return precision;
}

/// The models of a configuration, with the configuration's settings before their own. `path` is for
/// messages.
Model load_configuration(DecoderConfig config, const std::string& path, LoadOptions options) {
  if (!options.calibration) options.calibration = config.calibration;
  std::vector<EnsembleMember> members;
  for (std::size_t i = 0; i < config.models.size(); ++i) {
    const std::string& file = config.models[i];
    if (is_yaml(file) && !is_model_configuration(read_file(file, YamlLimits{}.bytes)))
      throw Error(
          fmt::format("{}: the model {} is a configuration too; name its models", path, file));
    if (std::error_code error; std::filesystem::is_directory(file, error) &&
                               !is_model_directory(file) && !is_huggingface_directory(file))
      throw Error(fmt::format(
          "{}: the model {} is a directory, but no model directory; name the model in it", path,
          file));
    LoadOptions member = options;
    // Members with the same weights would be one model.
    if (member.random_weights) *member.random_weights += i;
    Model model = load_model(file, member);
    if (!config.vocabularies.empty()) {
      model.vocabularies.clear();
      model.splitters.clear();
    }
    for (const std::string_view key : decode_keys())
      if (decode_text(config.decode, key)) clear_decode_default(model.decode, key);
    members.push_back({std::move(model), config.weights[i], file});
  }
  Model model = join_models(std::move(members));
  add_decode_defaults(model.decode, config.decode);
  if (!config.vocabularies.empty()) {
    model.vocabularies = std::move(config.vocabularies);
    model.splitters = std::move(config.splitters);
    model.text = {};
    model.vocabulary_digests.clear();
  }
  model.format = std::move(config.format);
  model.shortlist = std::move(config.shortlist);
  model.notes.insert(model.notes.begin(), config.notes.begin(), config.notes.end());
  return model;
}

Model load_marian_model(const std::string& path, const LoadOptions& options) {
  Model model =
      load_marian(path, {.ignore_unknown = options.ignore_unknown,
                         .calibration = options.calibration.value_or(Calibration::as_stored)});
  model.decode.precision = stored_precision(model);
  return model;
}

/// A package of Argos, a model of Transformers or CTranslate2, a model directory, or published
/// files.
Model load_directory(const std::string& path, const LoadOptions& options) {
  if (is_argos_package(path)) return load_argos_package(path);
  if (is_huggingface_directory(path)) return load_huggingface_directory(path);
  if (is_ctranslate2_directory(path)) return load_ctranslate2_directory(path);
  refuse_foreign_directory(path);
  if (is_model_directory(path)) return load_model_directory(path, options);
  return load_configuration(read_published_directory(path, options.ignore_unknown), path, options);
}

Model load_any(const std::string& path, const LoadOptions& options) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found)
    throw Error(fmt::format("cannot open model {}: {}", path, std::strerror(ENOENT)));
  if (status.type() == std::filesystem::file_type::none)
    throw Error(fmt::format("cannot open model {}: {}", path, error.message()));
  if (status.type() == std::filesystem::file_type::directory) return load_directory(path, options);
  if (is_argos_package(path)) return load_argos_package(path);
  refuse_foreign_file(path);
  if (const auto extension = file_extension(without_compression(path));
      extension == "npz" || extension == "bin")
    return load_marian_model(path, options);
  if (is_yaml(path) && is_model_configuration(read_file(path, YamlLimits{}.bytes)))
    return load_model_configuration(path, options);
  if (is_yaml(path))
    return load_configuration(read_decoder_config(path, options.ignore_unknown), path, options);
  refuse(path);
}

}  // namespace

Model load_model(const std::string& path, const LoadOptions& options) {
  expect_stack();
  const std::string place = model_path(path);
  Model model = load_any(place, options);
  if (options.random_weights && !model.weights.empty() && !is_yaml(path))
    throw Error(fmt::format(
        "{} has weights of its own; random weights are for a configuration (.yml) that names an "
        "architecture",
        path));
  expect_finite(model.weights, place);
  return model;
}

}  // namespace fuselage
