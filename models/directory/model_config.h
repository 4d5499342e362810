#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace fuselage {

/// What `config.json` of a model directory says.
struct ModelConfig {
  std::string name;                       ///< of the model; empty: that of its graph
  bool right_left = false;                ///< the model writes the last word first
  std::vector<std::string> vocabularies;  ///< file names, source and target; or none
  /// Defaults for decoding, by the long name of the option.
  std::map<std::string, std::string> decode;
};

/// Reads the text of a `config.json`; `path` is for messages. Throws Error for what is no such
/// file, for keys that are unknown (unless `ignore_unknown`) and for values that a key cannot have.
ModelConfig parse_model_config(std::string_view text, const std::string& path, bool ignore_unknown);

/// The text of a `config.json` that says `config`.
std::string print_model_config(const ModelConfig& config);

}  // namespace fuselage
