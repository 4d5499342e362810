#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "fuselage/base/location.h"

// State of the running block for the instructions of backends/cuda/device/runtime/hopper_ptx.h.

namespace emulated_cuda {

/// A barrier in shared memory: the arrivals of each phase and those that the present one lacks, its
/// bytes that are still expected, and the number of phases that have ended.
struct SharedBarrier {
  std::uint8_t arrivals, missing;
  std::uint16_t ended;
  std::int32_t bytes;
};

void begin_barrier(SharedBarrier& barrier, std::uint32_t arrivals);
void expect_bytes(SharedBarrier& barrier, std::uint32_t bytes);
void arrive(SharedBarrier& barrier);
/// Waits until a phase whose number is odd, or even, is the last one that has ended.
void wait_for_phase(SharedBarrier& barrier, bool odd, fuselage::CodeLocation where);

/// A copy of the copy engine.
struct TileCopy {
  void* to = nullptr;
  const CUtensorMap* map = nullptr;
  std::int32_t first_number = 0, first_vector = 0;
  SharedBarrier* barrier = nullptr;
};
/// Executes a copy at once, or when a thread waits for it, at random.
void begin_tile(const TileCopy& copy);

/// Aborts if copies of the block that ends have not been waited for.
void check_tiles();

/// Where a byte of a vector is in a tile that is swizzled by 128 bytes.
constexpr std::uint32_t swizzled_byte(std::uint32_t vector, std::uint32_t byte) {
  return vector * 128 + ((byte / 16) ^ (vector % 8)) * 16 + byte % 16;
}
/// Aborts unless the address is aligned as such tiles must be.
void check_swizzled(const void* tile);

/// The products of a thread's warpgroup: complete groups, and the open group.
struct ProductGroups {
  std::vector<std::vector<std::function<void()>>> ended;
  std::vector<std::function<void()>> open;
};
ProductGroups& products_of_thread();

}  // namespace emulated_cuda
