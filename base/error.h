#pragma once

#include <fmt/core.h>

#include <stdexcept>
#include <string>
#include <string_view>

#include "base/location.h"

namespace fuselage {

/// A user error: an invalid file, option, shape or model. The message is one line and says what is
/// wrong and where, gives both values if two disagree, and says what to do. Commands print it and
/// exit with status 1.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message) : std::runtime_error(message) {}

  /// Formats as fmt::format does.
  template <typename... Args>
  explicit Error(fmt::format_string<Args...> format, Args&&... args)
      : std::runtime_error(fmt::format(format, std::forward<Args>(args)...)) {}
};

/// A broken invariant of Fuselage itself; the message carries the source location.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// Throws InternalError with `message` and the caller's location unless `condition` holds.
inline void check(bool condition, const char* message,
                  CodeLocation where = CodeLocation::current()) {
  if (condition) return;
  throw InternalError(
      fmt::format("internal error: {} ({}:{})", message, where.file_name(), where.line()));
}

}  // namespace fuselage
