#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

// libFuzzer's own mutations, which it exports for custom mutators.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace fuselage {

/// Changes `bytes` by one of libFuzzer's mutations, to at most `max_size` bytes.
inline void mutate(std::string& bytes, std::size_t max_size) {
  const std::size_t size = std::min(bytes.size(), max_size);
  bytes.resize(max_size);
  bytes.resize(LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(bytes.data()), size, max_size));
}

/// Puts `bytes` where libFuzzer wants them; returns their number, which is at most `max_size`.
inline std::size_t hand_over(const std::string& bytes, std::uint8_t* data, std::size_t max_size) {
  const std::size_t size = std::min(bytes.size(), max_size);
  std::memcpy(data, bytes.data(), size);
  return size;
}

}  // namespace fuselage
