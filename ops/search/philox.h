#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define FUSELAGE_HOST_DEVICE __host__ __device__
#else
#define FUSELAGE_HOST_DEVICE
#endif

namespace fuselage {

/// The state of Philox4x32-10 and its result.
struct PhiloxBlock {
  std::uint32_t x[4];
};

/// The counter-based generator Philox4x32-10 (Salmon, Moraes, Dror, Shaw 2011, "Parallel random
/// numbers: as easy as 1, 2, 3", section 3.3): 128 random bits for each counter and 64-bit key.
FUSELAGE_HOST_DEVICE inline PhiloxBlock philox4x32(PhiloxBlock counter, std::uint64_t key) {
  auto low = static_cast<std::uint32_t>(key);
  auto high = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53u} * counter.x[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57u} * counter.x[2];
    counter = {
        {static_cast<std::uint32_t>(b >> 32) ^ counter.x[1] ^ low, static_cast<std::uint32_t>(b),
         static_cast<std::uint32_t>(a >> 32) ^ counter.x[3] ^ high, static_cast<std::uint32_t>(a)}};
    low += 0x9E3779B9u;
    high += 0xBB67AE85u;
  }
  return counter;
}

/// Number `index` of the stream `key`: an odd multiple of 2^-24, so that it is exact in float and
/// neither 0 nor 1.
FUSELAGE_HOST_DEVICE inline float uniform_number(std::uint64_t key, std::uint32_t index) {
  const std::uint32_t bits = philox4x32({{index, 0, 0, 0}}, key).x[0] >> 9;
  return static_cast<float>(2 * bits + 1) * 0x1p-24f;
}

/// The 64 bits of a stream, of 16 bits each in `parts`, the lowest first. What is no such number
/// counts as 0.
template <typename T>
FUSELAGE_HOST_DEVICE inline std::uint64_t stream_key(const T* parts) {
  std::uint64_t key = 0;
  for (int i = 3; i >= 0; --i) {
    const bool fits = parts[i] >= 0 && parts[i] < 65536;
    key = key << 16 | (fits ? static_cast<std::uint32_t>(parts[i]) : 0u);
  }
  return key;
}

}  // namespace fuselage
