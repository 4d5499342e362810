#pragma once

#include <string>

#include "base/files/descriptor.h"

namespace fuselage {

// Files of bytes, with names in UTF-8, which programs that this one starts do not inherit. Without
// one, the descriptor is negative and errno has the reason.

Descriptor open_to_read(const std::string& path);

/// The same, but opening a pipe does not wait for a writer.
Descriptor open_without_waiting(const std::string& path);

/// Fails if there is such a file already. The umask restricts `permissions`, of a system that has
/// them.
Descriptor create_file(const std::string& path, unsigned permissions);

/// Waits until all that was written is on the disk. Returns false with errno set if it is not.
bool flush_to_disk(const Descriptor& file);

}  // namespace fuselage
