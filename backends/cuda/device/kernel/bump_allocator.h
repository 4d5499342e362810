#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cuda/device/kernel/kernel.h"

namespace fuselage::cuda {

/// Bump allocator over a workspace. Default-constructed, it only measures.
class BumpAllocator {
 public:
  explicit BumpAllocator(Workspace workspace = {}) : workspace_(workspace) {}

  /// Memory for `count` elements of T, aligned to 256 bytes if the workspace is.
  template <typename T>
  T* allocate(std::int64_t count) {
    constexpr std::size_t kAlignment = 256;
    std::byte* data = workspace_.data ? workspace_.data + used_ : nullptr;
    const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(T);
    used_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    return reinterpret_cast<T*>(data);
  }

  /// Bytes allocated so far; more than the workspace has, if it is too small.
  std::size_t used_bytes() const { return used_; }

  bool fits() const { return used_ <= workspace_.bytes; }

  /// The free part of the workspace, where all allocations fit.
  Workspace remaining() const { return {workspace_.data + used_, workspace_.bytes - used_}; }

 private:
  Workspace workspace_;
  std::size_t used_ = 0;
};

}  // namespace fuselage::cuda
