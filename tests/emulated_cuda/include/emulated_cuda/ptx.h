#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

// What threads of the block that runs have under way, for the instructions of
// backends/cuda/device/runtime/ptx.h. It is no memory of the block.

namespace emulated_cuda {

/// A copy to shared memory that has begun.
struct Copy {
  void* to = nullptr;
  std::array<std::byte, 16> bytes{};
};

/// Those of a thread: groups that have ended, and the one that is open.
struct CopyGroups {
  std::vector<std::vector<Copy>> ended;
  std::vector<Copy> open;
};
CopyGroups& copies_of_thread();

/// What a lane brings to a product of its warp.
struct Brought {
  const void* row = nullptr;
  std::array<std::uint32_t, 6> fragments{};
};
/// Lane `lane` of the running thread's warp.
Brought& brought_by(std::uint32_t lane);

}  // namespace emulated_cuda
