#pragma once

#include <yaml-cpp/yaml.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace fuselage {

// For .cpp files only: the header shows yaml-cpp.

/// What a YAML text may take, with each alias counted as a copy of what its anchor names.
struct YamlLimits {
  std::size_t bytes = std::size_t{1} << 20;  ///< of the text, and of all scalars
  std::size_t depth = 64;                    ///< of collections in one another
  std::size_t nodes = 100'000;               ///< scalars and collections
};

/// The one document of a YAML text; `name` is its file, for messages. The keys of each mapping are
/// scalars and differ. Takes time linear in the text, before anything is built. Throws Error with
/// the line for invalid YAML, a second document, a key that is repeated or no scalar, an alias
/// within its own anchor, and what is beyond the limits.
YAML::Node load_yaml(std::string_view text, const std::string& name, const YamlLimits& limits = {});

}  // namespace fuselage
