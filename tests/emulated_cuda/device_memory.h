#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

namespace emulated_cuda {

/// What cudaMalloc gave: each piece stands between two guard zones, and begins as NaN.
class DeviceMemory {
 public:
  void* allocate(std::size_t bytes);
  /// False if this is no start of a piece. Aborts if something was written next to it.
  bool free(void* data);

  /// The piece that these bytes lie in: true; false: none of them is device memory; aborts where
  /// they overlap the end of a piece.
  bool holds(const void* data, std::size_t bytes);

  /// Aborts if something was written next to a piece.
  void check();

  std::size_t size_bytes();

 private:
  std::mutex mutex_;
  std::map<std::uintptr_t, std::size_t> pieces_;
  std::size_t size_bytes_ = 0;
};

DeviceMemory& device_memory();

/// Counts towards allocations().
void count_allocation();

}  // namespace emulated_cuda
