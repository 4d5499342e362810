#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace fuselage {

// For .cpp files only: the header shows nlohmann/json.

/// What a JSON text may take.
struct JsonLimits {
  std::size_t bytes = std::size_t{1} << 20;
  std::size_t depth = 16;        ///< of objects and lists in one another
  std::size_t values = 100'000;  ///< of any kind
};

/// The value of a JSON text; `name` is its file, for messages. Takes time linear in the text, but
/// for a logarithm of the number of keys. Throws Error for invalid JSON, with the byte, for a
/// number that is out of range, a key that an object gives twice, and what is beyond the limits.
nlohmann::json load_json(std::string_view text, const std::string& name,
                         const JsonLimits& limits = {});

}  // namespace fuselage
