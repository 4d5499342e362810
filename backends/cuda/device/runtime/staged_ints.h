#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "backends/cuda/device/runtime/memory.h"
#include "backends/cuda/device/runtime/stream.h"

namespace fuselage::cuda {

/// Arrays of integers in device memory that are filled from the host by one copy. First all are
/// added, then allocated, then filled any number of times.
class StagedInts {
 public:
  /// One of the arrays.
  struct Array {
    std::size_t begin = 0;
    std::size_t size = 0;
  };

  Array add(std::int64_t size);
  void allocate();

  std::int32_t* device(const Array& array) const;

  /// Waits until nothing is copied from the host's arrays any more, so that they can be filled.
  void begin();
  /// Fills the first elements of an array.
  void fill(const Array& array, std::span<const std::int32_t> numbers);
  /// Copies all arrays.
  void copy(const Stream& stream);

 private:
  std::size_t size_ = 0;
  DeviceMemory device_;
  PinnedMemory host_;
  Event copied_;
};

}  // namespace fuselage::cuda
