#include "models/formats/packed_integers.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "fuselage/base/quantized.h"
#include "models/formats/packed_logarithms.h"

namespace fuselage {
namespace {

constexpr int kLeastBits = 2, kMostBits = 4;

int largest_of(int bits) { return (1 << (bits - 1)) - 1; }

/// The maximum magnitude of a tensor's integers.
int largest_magnitude(const Tensor& vectors) {
  const std::int64_t k = vectors.shape().back();
  const std::byte* vector = vectors.bytes();
  int largest = 0;
  for (std::int64_t i = 0; i < vectors.size() / k; ++i, vector += vector_bytes(DType::qint8, k)) {
    const auto* integers = reinterpret_cast<const std::int8_t*>(vector + sizeof(float));
    for (std::int64_t j = 0; j < k; ++j)
      largest = std::max(largest, std::abs(static_cast<int>(integers[j])));
  }
  return largest;
}

}  // namespace

int integer_bits(const Tensor& vectors) {
  if (vectors.size() == 0) return 8;
  const std::int64_t k = vectors.shape().back();
  const int largest = largest_magnitude(vectors);
  for (int bits = kLeastBits; bits <= kMostBits; ++bits)
    if (largest <= largest_of(bits)) return *packed_bits(k, packed_bytes(k, bits));
  return 8;
}

void pack_integers(const std::byte* integers, std::int64_t k, int bits, std::byte* packed) {
  std::memset(packed, 0, static_cast<std::size_t>(packed_bytes(k, bits)));
  const unsigned mask = (1u << bits) - 1;
  for (std::int64_t i = 0; i < k; ++i) {
    const std::int64_t at = i * bits;
    const unsigned code = (static_cast<unsigned>(integers[i]) & mask) << at % 8;
    packed[at / 8] |= static_cast<std::byte>(code & 0xff);
    if (code > 0xff) packed[at / 8 + 1] |= static_cast<std::byte>(code >> 8);
  }
}

void unpack_integers(const std::byte* packed, std::int64_t k, int bits, std::byte* integers) {
  const std::int64_t bytes = packed_bytes(k, bits);
  const unsigned sign = 1u << (bits - 1), mask = (1u << bits) - 1;
  for (std::int64_t i = 0; i < k; ++i) {
    const std::int64_t at = i * bits;
    auto word = static_cast<unsigned>(packed[at / 8]);
    if (at / 8 + 1 < bytes) word |= static_cast<unsigned>(packed[at / 8 + 1]) << 8;
    const unsigned code = word >> at % 8 & mask;
    // Extends the sign.
    integers[i] = static_cast<std::byte>(((code ^ sign) - sign) & 0xff);
  }
}

}  // namespace fuselage
