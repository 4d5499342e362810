#pragma once

#include <string>

#include "fuselage/base/error.h"

namespace fuselage {

/// Throws InternalError unless a message is one line without control characters.
inline void check_message(const Error& error) {
  const std::string message = error.what();
  for (const char byte : message) {
    const auto code = static_cast<unsigned char>(byte);
    if (code < 0x20 || code == 0x7F)
      throw InternalError("a message holds a control character: " + message);
  }
}

}  // namespace fuselage
