#pragma once

#include <cstdint>
#include <string_view>

#include "fuselage/base/api.h"

namespace FUSELAGE_API fuselage {

/// A source code location. Replaces std::source_location, which clang 14 lacks. As a default
/// argument, current() is the caller's location.
class CodeLocation {
 public:
  static constexpr CodeLocation current(const char* file = __builtin_FILE(),
                                        std::uint32_t line = __builtin_LINE()) {
    return {file, line};
  }

  /// The file name without folders, which differ between machines.
  constexpr std::string_view file_name() const {
    const std::string_view path = file_;
    return path.substr(path.rfind('/') + 1);
  }
  constexpr std::uint32_t line() const { return line_; }

 private:
  constexpr CodeLocation(const char* file, std::uint32_t line) : file_(file), line_(line) {}

  const char* file_;
  std::uint32_t line_;
};

}  // namespace fuselage
