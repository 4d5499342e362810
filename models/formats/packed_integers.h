#pragma once

#include <cstddef>
#include <cstdint>

#include "fuselage/base/tensor.h"

namespace fuselage {

// Vectors of small integers in a file. An integer of b bits, 2 to 4, is in two's complement,
// without the minimum, whose negation is not representable. Integers follow each other as
// logarithmic numbers do (packed_logarithms.h), in as many bytes.

/// The bits in which a qint8 tensor is stored: the smallest number that holds all of its integers,
/// increased as packed_bits says; 8 if 4 do not hold them, or without integers.
int integer_bits(const Tensor& vectors);

/// Writes k integers packed, and reads them back. Integers must fit the bits.
void pack_integers(const std::byte* integers, std::int64_t k, int bits, std::byte* packed);
void unpack_integers(const std::byte* packed, std::int64_t k, int bits, std::byte* integers);

}  // namespace fuselage
