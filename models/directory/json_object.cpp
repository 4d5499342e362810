#include "models/directory/json_object.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/suggest.h"
#include "fuselage/base/error.h"
#include "models/formats/json.h"

namespace fuselage {

std::string shown(const nlohmann::json& value) {
  return value.is_structured() ? fmt::format("an {}", value.type_name()) : in_quotes(value.dump());
}

nlohmann::json parse_object(std::string_view text, const std::string& path) {
  nlohmann::json object = load_json(text, path);
  if (!object.is_object())
    throw Error(fmt::format("{}: this is no JSON object; the file is damaged", path));
  return object;
}

void check_keys(const nlohmann::json& object, std::span<const std::string_view> known,
                const std::string& where, bool ignore_unknown) {
  for (const auto& [key, value] : object.items())
    if (!ignore_unknown && std::find(known.begin(), known.end(), key) == known.end())
      throw Error(
          fmt::format("{}: unknown key {}{}", where, in_quotes(key), did_you_mean(key, known)));
}

}  // namespace fuselage
