#pragma once

#include <cstddef>
#include <cstdint>

namespace fuselage {

/// Whether this machine looks up bytes in a table of 128 by one instruction (AVX-512-VBMI).
bool has_byte_tables();

/// sigmoid of x / 16 as y / 127, by a table of 128 bytes for the magnitudes; `count` is a multiple
/// of 64.
void byte_sigmoid(const std::int8_t* x, std::size_t count, std::uint8_t* y);

/// The same of floats, which become bytes for the look-up and floats again.
void float_sigmoid_by_bytes(const float* x, std::size_t count, float* y);

}  // namespace fuselage
