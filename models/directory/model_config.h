#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fuselage/base/shortlist_options.h"
#include "fuselage/models/decode_defaults.h"
#include "fuselage/models/text_format.h"

namespace fuselage {

/// The content of a model directory's `config.json`.
struct ModelConfig {
  std::string name;                       ///< model name; empty: the name of its graph
  bool right_left = false;                ///< the model reads and writes the last word first
  std::vector<std::string> vocabularies;  ///< file names, source and target; or empty
  /// File names of what splits the text of source and target; or empty.
  std::vector<std::string> splitters = {};
  TextFormat text = {};
  ShortlistOptions shortlist = {};  ///< its path is a file name; empty: none
  DecodeDefaults decode;
  std::string architecture = {};  ///< builds the graph; empty: the directory has a graph
  std::string options = {};       ///< of the architecture, as JSON; empty: none
};

/// Reads the text of a `config.json`; `path` is for messages. Throws Error for invalid JSON, an
/// unsupported version, unknown keys (unless `ignore_unknown`) and invalid values.
ModelConfig parse_model_config(std::string_view text, const std::string& path, bool ignore_unknown);

/// The text of the `config.json` for `config`.
std::string print_model_config(const ModelConfig& config);

}  // namespace fuselage
