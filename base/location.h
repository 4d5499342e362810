#pragma once

#include <cstdint>
#include <string_view>

namespace fuselage {

/// A place in the source code: std::source_location, which clang 14 does not have. As a default
/// argument, current() is the caller's place.
class CodeLocation {
 public:
  static constexpr CodeLocation current(const char* file = __builtin_FILE(),
                                        std::uint32_t line = __builtin_LINE()) {
    return {file, line};
  }

  /// Without folders, which differ from machine to machine.
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
