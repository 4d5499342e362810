#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

// libFuzzer's own mutations, which it exports for custom mutators.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace fuselage {

/// Applies one of libFuzzer's mutations to `bytes`, which then has at most `max_size` bytes.
inline void mutate(std::string& bytes, std::size_t max_size) {
  const std::size_t size = std::min(bytes.size(), max_size);
  bytes.resize(max_size);
  bytes.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(bytes.data()), size, max_size));
}

/// Copies `bytes` to libFuzzer's buffer; returns the number of copied bytes, at most `max_size`.
inline std::size_t hand_over(const std::string& bytes, std::uint8_t* data, std::size_t max_size) {
  const std::size_t size = std::min(bytes.size(), max_size);
  std::memcpy(data, bytes.data(), size);
  return size;
}

}  // namespace fuselage
