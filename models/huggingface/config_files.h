#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace fuselage {

// For .cpp files only: the header shows nlohmann/json.

/// The JSON files of a directory that Hugging Face's Transformers saved. A file that is not there
/// is an empty object.
struct HuggingFaceConfig {
  std::string directory;
  std::string class_name;             ///< of the model: "MarianMTModel"
  nlohmann::json model;               ///< config.json
  nlohmann::json generation;          ///< generation_config.json
  nlohmann::json tokenizer;           ///< tokenizer_config.json
  nlohmann::json special_tokens_map;  ///< special_tokens_map.json

  std::string path(const std::string& file) const;
  bool has_file(const std::string& file) const;

  /// A setting of the search: that of generation_config.json, else of config.json, where models of
  /// earlier versions have it; null if neither states one.
  nlohmann::json setting(const std::string& key) const;

  // Values by type; nullopt where there is none. They throw Error naming the file for another type.
  std::optional<std::int64_t> integer(const std::string& key) const;
  std::optional<double> number(const std::string& key) const;
  std::optional<bool> flag(const std::string& key) const;
  /// One id or a list of ids.
  std::vector<std::int32_t> ids(const std::string& key) const;
};

/// A whole number from 0 on that fits; nullopt for other values.
std::optional<std::int32_t> word_id(const nlohmann::json& value);

/// Whether a directory has the config.json of a model of Transformers.
bool is_huggingface_directory(const std::string& directory);

/// Reads the files. Throws Error for invalid JSON, and for a class of models that cannot be loaded,
/// naming it and those that can.
HuggingFaceConfig read_huggingface_config(const std::string& directory);

}  // namespace fuselage
