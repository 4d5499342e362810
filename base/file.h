#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <string_view>

namespace fuselage {

/// The whole content of a file or pipe. Throws Error with the path and the system's reason when it
/// cannot be opened or read, when it is a directory, and when it has more than `max_bytes` bytes,
/// of which little more is read.
std::string read_file(const std::string& path,
                      std::size_t max_bytes = std::numeric_limits<std::size_t>::max());

/// Makes `path` hold `bytes`: readers see the old content or the new one, never a part. Throws
/// Error with the path, the file that failed and the system's reason, and then leaves `path` as it
/// was.
void write_file_atomically(const std::string& path, std::string_view bytes);
/// The same for bytes that lie in several places, and for a file of other permissions, which the
/// umask restricts.
void write_file_atomically(const std::string& path, std::span<const std::string_view> parts,
                           unsigned permissions = 0666);

/// What stands between `path` and a random number in the name of the file that
/// write_file_atomically renames to `path` at the end. A killed process leaves such a file.
inline constexpr std::string_view kTemporarySuffix = ".tmp.";

/// What follows the last dot of the last path component: "yml" for "models/vocab.en.yml"; empty
/// when there is no dot.
std::string_view file_extension(std::string_view path);

}  // namespace fuselage
