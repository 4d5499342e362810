#pragma once

#include <yaml-cpp/yaml.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace fuselage {

// For .cpp files only: this header includes yaml-cpp.

/// Limits on a YAML text. Each alias counts as a copy of its anchor's node.
struct YamlLimits {
  std::size_t bytes = std::size_t{1} << 20;  ///< of the text, and of all scalars
  std::size_t depth = 64;                    ///< nesting of collections
  std::size_t nodes = 100'000;               ///< scalars and collections
};

/// Loads a YAML text of one document; `name` is its file, for messages. The keys of each mapping
/// are distinct scalars. The checks take linear time and run before anything is built. Throws Error
/// with the line for invalid YAML, a second document, a repeated or non-scalar key, an alias within
/// its own anchor, and a text beyond the limits.
YAML::Node load_yaml(std::string_view text, const std::string& name, const YamlLimits& limits = {});

}  // namespace fuselage
