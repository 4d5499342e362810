#pragma once

#include <cstddef>

#include "backends/cuda/device/runtime/memory.h"

namespace fuselage::cuda {

/// An array in device memory with a capacity that only grows.
template <typename T>
class GrowingArray {
 public:
  /// Makes room for `count` elements. Returns true if the array moved; its contents are then lost.
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
