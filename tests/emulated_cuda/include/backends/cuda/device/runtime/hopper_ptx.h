#pragma once

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstring>

#include "backends/cuda/device/runtime/ptx.h"
#include "backends/cuda/device/runtime/tile_map.h"
#include "emulated_cuda/hopper.h"

// The functions of the product's header of the same path, without assembly.

// Parameters with maps are aligned to 128 bytes, which GCC notes.
#pragma GCC diagnostic ignored "-Wpsabi"

namespace fuselage::cuda {

// --- Barriers in shared memory, and the copy engine ---

using SharedBarrier = emulated_cuda::SharedBarrier;

inline void begin_barrier(SharedBarrier* barrier, std::uint32_t arrivals) {
  emulated_cuda::begin_barrier(*barrier, arrivals);
}
inline void fence_barriers() {}
inline void arrive_with_bytes(SharedBarrier* barrier, std::uint32_t bytes) {
  emulated_cuda::expect_bytes(*barrier, bytes);
  emulated_cuda::arrive(*barrier);
}
inline void arrive(SharedBarrier* barrier) { emulated_cuda::arrive(*barrier); }
inline void wait_for_phase(SharedBarrier* barrier, std::uint32_t phase,
                           CodeLocation where = CodeLocation::current()) {
  emulated_cuda::wait_for_phase(*barrier, phase % 2 != 0, where);
}
inline void begin_tile(void* shared, const CUtensorMap* map, std::int32_t first_number,
                       std::int32_t first_vector, SharedBarrier* barrier) {
  emulated_cuda::begin_tile({shared, map, first_number, first_vector, barrier});
}

template <int kRegisters>
void release_registers() {}
template <int kRegisters>
void acquire_registers() {}

// --- Products of warpgroups execute when waited for, so that early reads find the old sums, and
// operands that were overwritten too early give wrong ones ---

struct WarpgroupOperand {
  const std::byte* vectors;
  std::int32_t first_number;
};

inline WarpgroupOperand warpgroup_operand(const void* vectors, std::int32_t first_number) {
  emulated_cuda::check_swizzled(vectors);
  return {static_cast<const std::byte*>(vectors), first_number};
}

using WarpgroupSums = float[64];

inline void begin_products() {}

/// 16 numbers of a vector of a swizzled tile.
template <typename T>
void emulated_numbers(const WarpgroupOperand& operand, std::uint32_t vector, float (&numbers)[16]) {
  for (std::uint32_t i = 0; i < 16; ++i) {
    const std::uint32_t byte = (static_cast<std::uint32_t>(operand.first_number) + i) * 2;
    T number;
    std::memcpy(static_cast<void*>(&number),
                operand.vectors + emulated_cuda::swizzled_byte(vector, byte), sizeof number);
    numbers[i] = static_cast<float>(number);
  }
}

template <typename T>
void multiply_add(const WarpgroupOperand& rows, const WarpgroupOperand& columns, bool adds,
                  WarpgroupSums& sums) {
  float* to = sums;
  emulated_cuda::products_of_thread().open.push_back([rows, columns, adds, to] {
    const std::uint32_t lane = emulated_cuda::lane();
    const std::uint32_t first_row = threadIdx.x / 32 % 4 * 16 + lane / 4;
    float a[2][16];
    for (std::uint32_t part = 0; part < 2; ++part)
      emulated_numbers<T>(rows, first_row + 8 * part, a[part]);
    for (std::uint32_t i = 0; i < 32; ++i) {
      float b[16];
      emulated_numbers<T>(columns, i / 2 * 8 + lane % 4 * 2 + i % 2, b);
      for (std::uint32_t part = 0; part < 2; ++part) {
        float& sum = to[i / 2 * 4 + part * 2 + i % 2];
        if (!adds) sum = 0;
        for (std::uint32_t k = 0; k < 16; ++k) sum += a[part][k] * b[k];
      }
    }
  });
}

inline void end_product_group() {
  emulated_cuda::ProductGroups& groups = emulated_cuda::products_of_thread();
  groups.ended.push_back(std::move(groups.open));
  groups.open.clear();
}

template <int kLeft>
void wait_for_products() {
  auto& ended = emulated_cuda::products_of_thread().ended;
  while (ended.size() > kLeft) {
    for (const auto& product : ended.front()) product();
    ended.erase(ended.begin());
  }
}

inline void take_sums(WarpgroupSums&) {}

}  // namespace fuselage::cuda
