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
  /// Throws Error when memory is short.
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
