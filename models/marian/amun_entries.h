#pragma once

#include <string>
#include <vector>

#include "models/marian/config_entries.h"

namespace YAML {  // NOLINT(readability-identifier-naming): yaml-cpp names it so
class Node;
}

namespace fuselage {

/// Whether a configuration is one of Amun: it has scorers.
bool is_amun_config(const YAML::Node& config);

/// The entries that marian-decoder would have for a configuration of Amun, a mapping, with Amun's
/// defaults. `path` is for messages. Throws Error with `path`, the key and its value for scorers
/// that are not supported, such as language models, and for values of another form.
std::vector<ConfigEntry> amun_entries(const YAML::Node& config, const std::string& path);

}  // namespace fuselage
