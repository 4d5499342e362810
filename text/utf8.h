#pragma once

#include <cstddef>
#include <string_view>

namespace fuselage {

/// Bytes of the UTF-8 sequence at the beginning of a text that is not empty; 0 where there is none
/// (RFC 3629) and for NUL.
std::size_t utf8_sequence_length(std::string_view text);

/// Whether the text is UTF-8 without NUL.
bool is_valid_utf8(std::string_view text);

/// The longest prefix of at most `bytes` bytes that does not end within a UTF-8 sequence.
std::string_view utf8_prefix(std::string_view text, std::size_t bytes);

}  // namespace fuselage
