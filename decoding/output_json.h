#pragma once

#include <cstddef>
#include <string>

#include "fuselage/decoding/output_format.h"

namespace fuselage {

/// A JSON object with the line's number and its translation, or with n_best its translations, best
/// first; ends with a line break. docs/output.md lists the keys.
std::string json_line(std::size_t line, const Translation& translation, const OutputFormat& format);

/// The same for the continuations of a prompt.
std::string json_line(std::size_t line, const Generation& generation, const OutputFormat& format);

/// A JSON object with the line's number and the scores of a pair; ends with a line break.
std::string json_line(std::size_t line, const PairScore& score, const OutputFormat& format);

/// The same for an entry of an n-best list, with the number of its source line and its text.
std::string json_line(const NBestEntry& entry, const PairScore& score, const OutputFormat& format);

}  // namespace fuselage
