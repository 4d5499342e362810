#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/sha256.h"

namespace fuselage {

/// Name of the file in a model directory that lists the digests of the others.
inline constexpr const char* kManifestFile = "SHA256SUMS";

/// Digests by the name of their file.
using Manifest = std::map<std::string, Sha256>;

/// Reads what sha256sum writes: a line "DIGEST  NAME" a file, or "DIGEST *NAME". `path` is for
/// messages. Throws Error with the line for any other form, and for a name that is no file of the
/// directory, or repeated.
Manifest parse_manifest(std::string_view text, const std::string& path);

/// The lines that `sha256sum -c` checks.
std::string print_manifest(const Manifest& manifest);

}  // namespace fuselage
