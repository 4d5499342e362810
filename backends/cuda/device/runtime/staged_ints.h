#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "backends/cuda/device/runtime/memory.h"
#include "backends/cuda/device/runtime/stream.h"

namespace fuselage::cuda {

/// Arrays of 32-bit integers or floats in device memory that share one staging buffer on the host,
/// and so one copy. First add() all arrays, then allocate(), then fill them any number of times.
class StagedInts {
 public:
  /// An array's range in the buffer, in elements.
  struct Array {
    std::size_t begin = 0;
    std::size_t size = 0;
  };

  Array add(std::int64_t size);
  void allocate();

  std::int32_t* device(const Array& array) const;

  /// Waits for the last copy to end, so that the staging buffer can be filled.
  void begin();
  /// Fills the first elements of an array.
  void fill(const Array& array, std::span<const std::int32_t> numbers);
  void fill(const Array& array, std::span<const float> numbers);
  /// Copies all arrays.
  void copy(const Stream& stream);

 private:
  std::size_t size_ = 0;
  DeviceMemory device_;
  PinnedMemory host_;
  Event copied_;
};

}  // namespace fuselage::cuda
