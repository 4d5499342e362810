#pragma once

#include <cstddef>
#include <cstdint>

namespace fuselage {

/// Whether this machine has an instruction for look-ups in a table of 128 bytes (AVX-512-VBMI).
bool has_byte_tables();

/// sigmoid of x / 16 as y / 127, by a table of 128 bytes for the magnitudes; `count` is a multiple
/// of 64.
void byte_sigmoid(const std::int8_t* x, std::size_t count, std::uint8_t* y);

/// The same for floats, which are converted to bytes for the look-up and back.
void float_sigmoid_by_bytes(const float* x, std::size_t count, float* y);

}  // namespace fuselage
