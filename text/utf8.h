#pragma once

#include <cstddef>
#include <string_view>

namespace fuselage {

/// Number of bytes of the UTF-8 sequence (RFC 3629) at the beginning of a non-empty text; 0 for an
/// invalid sequence and for NUL.
std::size_t utf8_sequence_length(std::string_view text);

/// Whether the text is valid UTF-8 without NUL.
bool is_valid_utf8(std::string_view text);

/// The longest prefix of at most `bytes` bytes that does not end within a UTF-8 sequence.
std::string_view utf8_prefix(std::string_view text, std::size_t bytes);

}  // namespace fuselage
