#pragma once

#include <filesystem>
#include <string>

namespace fuselage {

/// A name in UTF-8 as Windows has it, in UTF-16.
inline std::filesystem::path wide_path(const std::string& path) {
  return std::u8string(path.begin(), path.end());
}

}  // namespace fuselage
