#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fuselage::cpu {

/// Suffix of the name of a cache file, after 32 hexadecimal digits.
inline constexpr std::string_view kWeightsSuffix = ".weights";

/// Age in seconds from which leftover temporary files of write_file_atomically() are removed.
inline constexpr std::int64_t kMaxTemporaryAge = 3600;

/// Removes cache files, least recently used first, until at most `max_bytes` bytes remain, and
/// temporary files older than kMaxTemporaryAge. Never removes `kept`, files with other names, or
/// other users' files. Mappings of removed files stay valid. Returns a message about files that
/// could not be removed, or "".
std::string remove_old_weights(const std::string& directory, const std::string& kept,
                               std::uint64_t max_bytes);

}  // namespace fuselage::cpu
