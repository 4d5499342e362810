#pragma once

#include <map>
#include <string>
#include <string_view>

#include "fuselage/base/sha256.h"

namespace fuselage {

/// Name of the file in a model directory that lists the digests of the other files.
inline constexpr const char* kManifestFile = "SHA256SUMS";

/// Digests by file name.
using Manifest = std::map<std::string, Sha256>;

/// Reads the format of sha256sum: a line "DIGEST  NAME" or "DIGEST *NAME" per file. `path` is for
/// messages. Throws Error with the line for any other form, for a name that is not a plain file
/// name, and for a repeated name.
Manifest parse_manifest(std::string_view text, const std::string& path);

/// The text of a manifest, in the format of `sha256sum -c`.
std::string print_manifest(const Manifest& manifest);

}  // namespace fuselage
