#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "fuselage/base/tensor.h"

namespace fuselage {

// Vectors of logarithmic numbers (base/numbers/logarithmic.h) in a file. A number of b bits, 1 to
// 4, has its sign in bit b - 1 and below it e - least_exponent(b), for the power 2^e. Numbers
// follow each other from the least significant bit of the first byte on, across the bounds of
// bytes, and bits behind the last number of a vector are 0. With 4 bits this is the form in memory.

/// Bytes of k numbers.
std::int64_t packed_bytes(std::int64_t k, int bits);

/// The bits of a number in vectors of k numbers that take `bytes` bytes each; nullopt if no vectors
/// do. Short vectors may take as many bytes with fewer bits as with more; the number is then the
/// largest, so that the bytes alone determine it.
std::optional<int> packed_bits(std::int64_t k, std::int64_t bytes);

/// The bits in which a qlog4 tensor is stored: the smallest number that holds all of its powers,
/// increased as packed_bits says. Vectors that have the scale 0 or NaN hold no numbers.
int stored_bits(const Tensor& vectors);

/// Whether a vector of this scale holds numbers. If not, all of its bits are 0.
bool holds_numbers(float scale);

/// Writes a vector in memory, without its scale, as packed numbers, and reads them back. Numbers
/// must fit the bits; bits behind the last one are ignored when reading.
void pack_logarithms(const std::byte* nibbles, std::int64_t k, int bits, std::byte* packed);
void unpack_logarithms(const std::byte* packed, std::int64_t k, int bits, std::byte* nibbles);

}  // namespace fuselage
