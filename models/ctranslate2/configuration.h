#pragma once

#include <optional>
#include <string>

#include "models/ctranslate2/model_bin.h"

namespace fuselage {

/// How text becomes the words of a CTranslate2 model, and its settings outside of the variables.
struct Ctranslate2Configuration {
  std::string unknown = "<unk>", begin = "<s>", end = "</s>";
  /// The word that a decoder starts with; nullopt: the first one of a prefix that the caller gives.
  std::optional<std::string> start = {};
  bool source_begin = false, source_end = false;  ///< whether these words enclose a source text
  std::optional<double> norm_epsilon = {};
};

/// The number of a variable without dimensions, or with one element; nullopt if there is no such
/// variable.
std::optional<double> attribute_of(const Ctranslate2File& file, const std::string& name);

/// The configuration: from binary version 6 on that of config.json, whose text is `json`, before
/// that from variables of the file. `json` may be empty. Throws Error with `path`, that of
/// config.json, for a text that is no object, and for values of other types.
Ctranslate2Configuration read_ctranslate2_configuration(const Ctranslate2File& file,
                                                        const std::string& json,
                                                        const std::string& path);

}  // namespace fuselage
