#pragma once

#include <string_view>

#include "base/error.h"

namespace fuselage {

/// Whatever an input holds, the message about it is one line that does nothing to a terminal.
inline void check_message(const Error& error) {
  for (const char byte : std::string_view(error.what())) {
    const auto code = static_cast<unsigned char>(byte);
    check(code >= 0x20 && code != 0x7F, "a message holds a control character");
  }
}

}  // namespace fuselage
