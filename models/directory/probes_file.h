#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "fuselage/models/probes.h"

namespace fuselage {

/// Name of the file of probes in a model directory.
inline constexpr std::string_view kProbesFile = "probes.json";

/// Maximum size of the file, in bytes.
inline constexpr std::size_t kMaxProbes = std::size_t{1} << 20;

/// Reads the file of probes; `path` is for messages. Throws Error for a text that is no such file,
/// is of another version, has an unknown key (unless these are ignored), or has a probe without
/// words, with a different number of scores, or with a number that is no word or no score.
Probes parse_probes(std::string_view text, const std::string& path, bool ignore_unknown = false);

/// The text of the file, a line for each probe.
std::string print_probes(const Probes& probes);

}  // namespace fuselage
