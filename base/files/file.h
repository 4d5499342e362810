#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <string_view>

#include "base/exported.h"

namespace fuselage {

/// The whole content of a file or pipe, or of a file in a ZIP archive, which counts as a folder in
/// `path` (archive.h). Throws Error with the path and the system's reason if it
/// cannot be opened or read, is a directory, or has more than `max_bytes` bytes. Reads little
/// beyond `max_bytes`.
FUSELAGE_EXPORTED std::string read_file(
    const std::string& path, std::size_t max_bytes = std::numeric_limits<std::size_t>::max());

/// Replaces the content of `path` with `bytes`. Readers see the old content or the new content,
/// never a part. On failure throws Error with the path, the file that failed and the system's
/// reason, and leaves `path` unchanged.
FUSELAGE_EXPORTED void write_file_atomically(const std::string& path, std::string_view bytes);
/// The same for the concatenation of several byte ranges, and with `permissions`, which the umask
/// restricts.
FUSELAGE_EXPORTED void write_file_atomically(const std::string& path,
                                             std::span<const std::string_view> parts,
                                             unsigned permissions = 0666);

/// write_file_atomically writes to a file named `path`, this suffix and a random number, then
/// renames it to `path`. A killed process leaves such a file behind.
inline constexpr std::string_view kTemporarySuffix = ".tmp.";

/// The text after the last dot of the last path component: "yml" for "models/vocab.en.yml"; empty
/// if there is no dot.
std::string_view file_extension(std::string_view path);

}  // namespace fuselage
