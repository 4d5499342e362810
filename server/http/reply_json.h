#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "server/http/message.h"

namespace fuselage {

using Json = nlohmann::ordered_json;

/// A JSON value as a text. Bytes that are no UTF-8 become U+FFFD.
inline std::string json_text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

inline HttpReply json_reply(const Json& json) { return {.body = json_text(json)}; }

inline std::string error_json(const std::string& message) {
  return json_text({{"error", message}});
}

}  // namespace fuselage
