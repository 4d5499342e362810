#pragma once

#include <cstddef>
#include <cstdint>

#include "backends/cuda/device/kernel/kernel.h"

namespace fuselage::cuda {

/// Cuts a workspace into pieces. With an empty one it counts what they take.
class Pieces {
 public:
  explicit Pieces(Workspace workspace = {}) : workspace_(workspace) {}

  /// Memory for `count` of T, aligned to 256 bytes if the workspace is.
  template <typename T>
  T* take(std::int64_t count) {
    constexpr std::size_t kAlignment = 256;
    std::byte* piece = workspace_.data ? workspace_.data + bytes_ : nullptr;
    const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(T);
    bytes_ += (bytes + kAlignment - 1) / kAlignment * kAlignment;
    return reinterpret_cast<T*>(piece);
  }

  /// What has been taken; more than the workspace has, where it was too small.
  std::size_t bytes() const { return bytes_; }

  bool fit() const { return bytes_ <= workspace_.bytes; }

  /// What is left, where the pieces fit.
  Workspace rest() const { return {workspace_.data + bytes_, workspace_.bytes - bytes_}; }

 private:
  Workspace workspace_;
  std::size_t bytes_ = 0;
};

}  // namespace fuselage::cuda
