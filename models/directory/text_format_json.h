#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "fuselage/models/text_format.h"

namespace fuselage {

// For .cpp files only: the header shows nlohmann/json.

/// The entry "text" of a model directory's `config.json`; members that are as by default are left
/// out.
nlohmann::ordered_json print_text_format(const TextFormat& format);

/// The inverse; `where` is for messages. Throws Error for unknown keys (unless `ignore_unknown`)
/// and for values of another type.
TextFormat parse_text_format(const nlohmann::json& json, const std::string& where,
                             bool ignore_unknown);

}  // namespace fuselage
