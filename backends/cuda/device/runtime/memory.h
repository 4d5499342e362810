#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

namespace fuselage::cuda {

/// What memory is for, and how a user can do with less of it, for messages.
struct Purpose {
  std::string_view what;    ///< "the values of a batch"
  std::string_view advice;  ///< "use a smaller mini-batch"
};

/// Memory of the current device. All its bits are set in the beginning.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  /// Throws Error when there is no room.
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

/// Host memory that the device copies to and from by itself.
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
