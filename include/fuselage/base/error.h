#pragma once

#include <stdexcept>
#include <string>

#include "fuselage/base/api.h"
#include "fuselage/base/location.h"

namespace FUSELAGE_API fuselage {

/// A user error: an invalid file, option, shape or model. The message is one line and says what is
/// wrong and where, gives both values if two disagree, and says what to do. Commands print it and
/// exit with status 1.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message) : std::runtime_error(message) {}
};

/// An Error whose message begins with a place, as a file and a line: who knows a wider place only,
/// as the file, lets it pass.
class LocatedError : public Error {
 public:
  using Error::Error;
};

/// A fault of an op, pass, kernel or architecture that an extension or a program registered, and
/// not of Fuselage. The message names it and the extension.
class ExtensionError : public Error {
 public:
  using Error::Error;
};

/// An Error for want of memory for a batch: a smaller one may fit.
class OutOfMemory : public Error {
 public:
  using Error::Error;
};

/// A broken invariant of Fuselage itself; the message carries the source location.
class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// Throws InternalError with `message` and the place.
[[noreturn]] void fail_check(const char* message, CodeLocation where);

/// Throws InternalError with `message` and the caller's location unless `condition` holds.
inline void check(bool condition, const char* message,
                  CodeLocation where = CodeLocation::current()) {
  if (!condition) fail_check(message, where);
}

}  // namespace fuselage
