#pragma once

#include <string>
#include <string_view>

namespace fuselage {

// Differences of yaml-cpp from YAML, in texts that PyYAML and other programs write.

/// `text` with its first %YAML directive, of a version 1.N, as a comment: yaml-cpp reads the
/// version by the global locale of C++.
std::string without_version_directive(std::string text);

/// A scalar of yaml-cpp with the characters of the escapes \_ (no-break space, U+00A0) and \N (next
/// line, U+0085), for which yaml-cpp gives single bytes, which are no UTF-8.
std::string with_escaped_characters(std::string scalar);

}  // namespace fuselage
