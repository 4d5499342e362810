#include "fuselage/models/load_model.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/file.h"
#include "fuselage/base/error.h"
#include "fuselage/models/directory/model_directory.h"
#include "models/finite_weights.h"
#include "models/marian/marian_loader.h"

namespace fuselage {
namespace {

constexpr std::string_view kSupported =
    "a Marian model (.npz or .bin) or a Fuselage model directory can be loaded";

[[noreturn]] void refuse(const std::string& path) {
  const std::string_view extension = file_extension(path);
  if (extension == "ir" || extension == "safetensors" || path.ends_with("config.json"))
    throw Error(fmt::format(
        "{}: this is one file of a model directory; give the directory that holds it", path));
  if (extension == "yml" || extension == "yaml")
    throw Error(
        fmt::format("{}: this is YAML, a configuration or a vocabulary, and not a model", path));
  throw Error(fmt::format("{}: this is no model format that is known by its extension; {}", path,
                          kSupported));
}

/// The precision of a model's stored integers, in which its products run without further loss.
std::string_view stored_precision(const Model& model) {
  std::string_view precision;
  for (const auto& [name, tensor] : model.weights) {
    if (tensor.dtype() == DType::qint8) return "int8";
    if (tensor.dtype() == DType::qint16) precision = "int16";
  }
  return precision;
}

LoadedModel load_any(const std::string& path, const LoadOptions& options) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found)
    throw Error(fmt::format("cannot open model {}: {}", path, std::strerror(ENOENT)));
  if (status.type() == std::filesystem::file_type::none)
    throw Error(fmt::format("cannot open model {}: {}", path, error.message()));
  if (status.type() == std::filesystem::file_type::directory)
    return load_model_directory(path, options);
  if (const auto extension = file_extension(path); extension != "npz" && extension != "bin")
    refuse(path);
  LoadedModel loaded{load_marian(path, {.ignore_unknown = options.ignore_unknown}), {}};
  if (const std::string_view precision = stored_precision(loaded.model); !precision.empty())
    loaded.decode_options["precision"] = precision;
  return loaded;
}

}  // namespace

LoadedModel load_model(const std::string& path, const LoadOptions& options) {
  LoadedModel loaded = load_any(path, options);
  expect_finite(loaded.model.weights, path);
  return loaded;
}

}  // namespace fuselage
