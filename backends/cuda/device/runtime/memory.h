#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

namespace fuselage::cuda {

/// The purpose of an allocation, and advice for using less memory, for error messages.
struct Purpose {
  std::string_view what;    ///< "the values of a batch"
  std::string_view advice;  ///< "use a smaller mini-batch"
};

/// Memory of the current device. All bits are set initially.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  /// Throws OutOfMemory when memory is short.
  DeviceMemory(std::size_t bytes, const Purpose& purpose);

  std::byte* data() const { return data_.get(); }
  std::size_t size_bytes() const { return bytes_; }

 private:
  struct Free {
    void operator()(std::byte* data) const;
  };
  std::unique_ptr<std::byte, Free> data_;
  std::size_t bytes_ = 0;
};

/// An array in device memory with a capacity that only grows.
template <typename T>
class GrowingArray {
 public:
  /// Makes room for `count` elements. Returns true if the array moved; its contents are then lost.
  /// Throws OutOfMemory when memory is short.
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

/// Page-locked host memory, for asynchronous copies.
class PinnedMemory {
 public:
  PinnedMemory() = default;
  explicit PinnedMemory(std::size_t bytes);

  std::byte* data() const { return data_.get(); }
  std::size_t size_bytes() const { return bytes_; }

 private:
  struct Free {
    void operator()(std::byte* data) const;
  };
  std::unique_ptr<std::byte, Free> data_;
  std::size_t bytes_ = 0;
};

}  // namespace fuselage::cuda
