#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fuselage::cpu {

/// What the name of a file of cached weights ends with, behind 32 hexadecimal digits.
inline constexpr std::string_view kWeightsSuffix = ".weights";

/// Age from which a file is removed that write_file_atomically() has left, in seconds.
inline constexpr std::int64_t kMaxTemporaryAge = 3600;

/// Removes files of cached weights, those that were used least recently first, until the others
/// have `max_bytes` in all, and temporary files of kMaxTemporaryAge. `kept` stays in any case, and
/// so do files with other names and other users' files. A process that has mapped a file keeps what
/// it has mapped. Tells what could not be removed; empty otherwise.
std::string remove_old_weights(const std::string& directory, const std::string& kept,
                               std::uint64_t max_bytes);

}  // namespace fuselage::cpu
