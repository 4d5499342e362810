#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace fuselage {

// For .cpp files only: the header shows nlohmann/json.

/// Limits of a JSON text.
struct JsonLimits {
  std::size_t bytes = std::size_t{1} << 20;
  std::size_t depth = 16;        ///< of nested objects and lists
  std::size_t values = 100'000;  ///< of any type
};

/// The value of a JSON text; `name` is its file, for messages. Takes O(n log k) time for n bytes
/// and k keys. Throws Error for invalid JSON (with the byte), a number out of range, a repeated key
/// of an object, and a text beyond the limits.
nlohmann::json load_json(std::string_view text, const std::string& name,
                         const JsonLimits& limits = {});

}  // namespace fuselage
