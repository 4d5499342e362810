#pragma once

#include <cstdint>
#include <cstring>

#include "emulated_cuda/threads.h"
#include "fuselage/base/location.h"

// NOLINTBEGIN(readability-identifier-naming): CUDA gave the names.

namespace emulated_cuda {

/// A shuffle: the value of lane `source`, as T.
template <typename T>
T shuffle(const Exchange& operation, const T& value, std::uint32_t source) {
  static_assert(sizeof(T) <= sizeof(std::uint64_t));
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  bits = exchange(operation, bits, source);
  T result;
  std::memcpy(static_cast<void*>(&result), &bits, sizeof(T));
  return result;
}

/// The first lane of the thread's section of `width` lanes.
inline std::uint32_t section(int width) {
  return lane() & ~(static_cast<std::uint32_t>(width) - 1);
}

}  // namespace emulated_cuda

template <typename T>
T __shfl_sync(unsigned mask, T value, int source, int width = warpSize,
              fuselage::CodeLocation where = fuselage::CodeLocation::current()) {
  const auto within = static_cast<std::uint32_t>(source) & (static_cast<std::uint32_t>(width) - 1);
  return emulated_cuda::shuffle({"__shfl_sync", mask, where}, value,
                                emulated_cuda::section(width) + within);
}

template <typename T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = warpSize,
                 fuselage::CodeLocation where = fuselage::CodeLocation::current()) {
  const std::uint32_t lane = emulated_cuda::lane();
  const bool inside = lane - emulated_cuda::section(width) >= delta;
  return emulated_cuda::shuffle({"__shfl_up_sync", mask, where}, value,
                                inside ? lane - delta : lane);
}

template <typename T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = warpSize,
                   fuselage::CodeLocation where = fuselage::CodeLocation::current()) {
  const std::uint32_t lane = emulated_cuda::lane();
  const bool inside =
      lane - emulated_cuda::section(width) + delta < static_cast<std::uint32_t>(width);
  return emulated_cuda::shuffle({"__shfl_down_sync", mask, where}, value,
                                inside ? lane + delta : lane);
}

template <typename T>
T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = warpSize,
                  fuselage::CodeLocation where = fuselage::CodeLocation::current()) {
  const std::uint32_t lane = emulated_cuda::lane();
  const std::uint32_t source = lane ^ static_cast<std::uint32_t>(lanes);
  const bool inside = source < emulated_cuda::section(width) + static_cast<std::uint32_t>(width);
  return emulated_cuda::shuffle({"__shfl_xor_sync", mask, where}, value, inside ? source : lane);
}

inline void __syncwarp(unsigned mask = 0xffffffffu,
                       fuselage::CodeLocation where = fuselage::CodeLocation::current()) {
  emulated_cuda::ballot({"__syncwarp", mask, where}, true);
}
inline unsigned __ballot_sync(unsigned mask, int predicate,
                              fuselage::CodeLocation where = fuselage::CodeLocation::current()) {
  return emulated_cuda::ballot({"__ballot_sync", mask, where}, predicate != 0);
}
inline int __any_sync(unsigned mask, int predicate,
                      fuselage::CodeLocation where = fuselage::CodeLocation::current()) {
  return emulated_cuda::ballot({"__any_sync", mask, where}, predicate != 0) != 0;
}
inline int __all_sync(unsigned mask, int predicate,
                      fuselage::CodeLocation where = fuselage::CodeLocation::current()) {
  return emulated_cuda::ballot({"__all_sync", mask, where}, predicate != 0) == mask;
}

// NOLINTEND(readability-identifier-naming)
