#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

namespace fuselage {

// For .cpp files only: the header shows nlohmann/json.

/// A JSON value for a message. Lists and objects may be deep, so only their type is shown.
std::string shown(const nlohmann::json& value);

/// The object of a JSON text; `path` is its file, for messages. Throws Error as load_json does, and
/// for a text that is no object.
nlohmann::json parse_object(std::string_view text, const std::string& path);

/// Throws Error for a key that is not known, unless these are ignored; `where` names the object.
void check_keys(const nlohmann::json& object, std::span<const std::string_view> known,
                const std::string& where, bool ignore_unknown);

}  // namespace fuselage
