#include "models/formats/packed_logarithms.h"

#include <algorithm>
#include <cmath>

#include "base/numbers/logarithmic.h"
#include "fuselage/base/quantized.h"

namespace fuselage {
namespace {

/// Numbers that take whole bytes together, packed and in memory.
constexpr int kGroup = 8;
constexpr std::int64_t kGroupNibbleBytes = kGroup / 2;
constexpr unsigned kSign = 8, kExponent = 7;

std::int64_t nibble_bytes(std::int64_t k) { return packed_bytes(k, 4); }

std::uint32_t load(const std::byte* from, std::int64_t bytes) {
  std::uint32_t word = 0;
  for (std::int64_t i = 0; i < bytes; ++i) word |= static_cast<std::uint32_t>(from[i]) << 8 * i;
  return word;
}

void store(std::uint32_t word, std::byte* to, std::int64_t bytes) {
  for (std::int64_t i = 0; i < bytes; ++i) to[i] = static_cast<std::byte>(word >> 8 * i & 0xff);
}

std::uint32_t packed_group(std::uint32_t nibbles, int bits) {
  const unsigned below = (1u << (bits - 1)) - 1;
  std::uint32_t word = 0;
  for (int i = 0; i < kGroup; ++i) {
    const unsigned nibble = nibbles >> 4 * i & 15u;
    const unsigned code = (nibble & kSign) >> (4 - bits) | (nibble & below);
    word |= code << bits * i;
  }
  return word;
}

/// The nibbles of the first `count` numbers; the others are 0.
std::uint32_t nibble_group(std::uint32_t packed, int bits, std::int64_t count) {
  // The bits above those of an exponent are set in all exponents that are stored.
  const auto least = static_cast<unsigned>(least_exponent(bits));
  const unsigned below = (1u << (bits - 1)) - 1;
  std::uint32_t word = 0;
  for (int i = 0; i < kGroup; ++i) {
    const unsigned code = packed >> bits * i;
    const unsigned nibble = (code << (4 - bits) & kSign) | least | (code & below);
    word |= nibble << 4 * i;
  }
  return count < kGroup ? word & ((1u << 4 * count) - 1) : word;
}

/// The least exponent of a vector's numbers, at most `bound`.
int least_exponent_of(const std::byte* nibbles, std::int64_t k, int bound) {
  unsigned least = static_cast<unsigned>(bound);
  for (std::int64_t i = 0; i < k / 2; ++i) {
    const auto byte = static_cast<unsigned>(nibbles[i]);
    least = std::min({least, byte & kExponent, byte >> 4 & kExponent});
  }
  if (k % 2 != 0) least = std::min(least, static_cast<unsigned>(nibbles[k / 2]) & kExponent);
  return static_cast<int>(least);
}

}  // namespace

std::int64_t packed_bytes(std::int64_t k, int bits) {
  return k / kGroup * bits + (k % kGroup * bits + 7) / 8;
}

std::optional<int> packed_bits(std::int64_t k, std::int64_t bytes) {
  for (int bits = 4; bits > 0; --bits)
    if (packed_bytes(k, bits) == bytes) return bits;
  return std::nullopt;
}

bool holds_numbers(float scale) { return scale != 0 && !std::isnan(scale); }

int stored_bits(const Tensor& vectors) {
  const std::int64_t k = vectors.shape().back();
  if (vectors.size() == 0) return 4;
  int least = kTopExponent;
  const std::byte* vector = vectors.bytes();
  for (std::int64_t i = 0; i < vectors.size() / k; ++i, vector += vector_bytes(DType::qlog4, k)) {
    const std::byte* nibbles = vector + sizeof(float);
    if (holds_numbers(scale_of(vector)))
      least = least_exponent_of(nibbles, k, least);
    else if (std::any_of(nibbles, nibbles + nibble_bytes(k),
                         [](std::byte byte) { return byte != std::byte{0}; }))
      least = 0;
  }
  int bits = 1;
  while (least < least_exponent(bits)) ++bits;
  return *packed_bits(k, packed_bytes(k, bits));
}

void pack_logarithms(const std::byte* nibbles, std::int64_t k, int bits, std::byte* packed) {
  for (; k > 0; k -= kGroup, nibbles += kGroupNibbleBytes, packed += bits) {
    const std::int64_t count = std::min<std::int64_t>(k, kGroup);
    store(packed_group(load(nibbles, nibble_bytes(count)), bits), packed,
          packed_bytes(count, bits));
  }
}

void unpack_logarithms(const std::byte* packed, std::int64_t k, int bits, std::byte* nibbles) {
  for (; k > 0; k -= kGroup, packed += bits, nibbles += kGroupNibbleBytes) {
    const std::int64_t count = std::min<std::int64_t>(k, kGroup);
    store(nibble_group(load(packed, packed_bytes(count, bits)), bits, count), nibbles,
          nibble_bytes(count));
  }
}

}  // namespace fuselage
