#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

// State of the running block's threads for the instructions of backends/cuda/device/runtime/ptx.h:
// pending copies and exchanged fragments.

namespace emulated_cuda {

/// A pending copy to shared memory.
struct Copy {
  void* to = nullptr;
  std::array<std::byte, 16> bytes{};
};

/// The copies of a thread: complete groups, and the open group.
struct CopyGroups {
  std::vector<std::vector<Copy>> ended;
  std::vector<Copy> open;
};
CopyGroups& copies_of_thread();

/// The fragments of a lane in a product of its warp.
struct Brought {
  const void* row = nullptr;
  std::array<std::uint32_t, 6> fragments{};
};
/// Lane `lane` of the running thread's warp.
Brought& brought_by(std::uint32_t lane);

}  // namespace emulated_cuda
