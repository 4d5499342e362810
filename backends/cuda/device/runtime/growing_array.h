#pragma once

#include <cstddef>

#include "backends/cuda/device/runtime/memory.h"

namespace fuselage::cuda {

/// Numbers in device memory, which move when there must be more of them than ever before.
template <typename T>
class GrowingArray {
 public:
  /// Makes room for `count` and says whether that moved the array; what was in it is then lost.
  /// Throws Error when memory is short.
  bool reserve(std::size_t count, const Purpose& purpose) {
    const std::size_t bytes = count * sizeof(T);
    const bool moves = bytes > memory_.size_bytes();
    if (moves) {
      memory_ = DeviceMemory();  // not both at once
      memory_ = DeviceMemory(bytes, purpose);
    }
    return moves;
  }

  T* data() const { return reinterpret_cast<T*>(memory_.data()); }

 private:
  DeviceMemory memory_;
};

}  // namespace fuselage::cuda
