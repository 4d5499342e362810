#include "base/content_hash.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace fuselage {
namespace {

// Odd, with about as many ones as zeros: fractional bits of the golden ratio and of sqrt(2).
constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;
constexpr std::uint64_t kRoot = 0x6a09e667f3bcc909;

/// Spreads each bit over all.
std::uint64_t spread(std::uint64_t word) {
  word = (word ^ word >> 32) * kGolden;
  word = (word ^ word >> 29) * kRoot;
  return word ^ word >> 32;
}

}  // namespace

/// One to one in the word and in the lane, so that no single change is lost.
void ContentHash::mix(std::size_t lane, std::uint64_t word) {
  lanes_[lane] = std::rotl(lanes_[lane] ^ word * kGolden, 29) * kRoot;
}

void ContentHash::add(const void* bytes, std::size_t size) {
  constexpr std::size_t kWord = sizeof(std::uint64_t);
  mix(0, size);
  const auto* from = static_cast<const std::byte*>(bytes);
  const auto next = [&](std::size_t lane, std::size_t count) {
    std::uint64_t word = 0;
    std::memcpy(&word, from, count);
    from += count;
    size -= count;
    mix(lane, word);
  };
  // Four lanes, whose multiplications do not wait for one another.
  while (size >= 4 * kWord)
    for (std::size_t lane = 0; lane < 4; ++lane) next(lane, kWord);
  for (std::size_t lane = 0; size > 0; ++lane) next(lane, std::min(size, kWord));
}

std::array<std::uint64_t, 2> ContentHash::words() const {
  std::array<std::uint64_t, 2> words{kGolden, kRoot};
  for (const std::uint64_t lane : lanes_) {
    words[0] = spread(words[0] ^ lane);
    words[1] = spread(words[1] + std::rotl(lane, 32));
  }
  return words;
}

std::string ContentHash::text() const {
  const auto [first, second] = words();
  return fmt::format("{:016x}{:016x}", first, second);
}

}  // namespace fuselage
