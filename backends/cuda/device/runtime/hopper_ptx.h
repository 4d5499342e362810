#pragma once

#include <cuda.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "backends/cuda/device/runtime/ptx.h"
#include "backends/cuda/device/runtime/tile_map.h"

namespace fuselage::cuda {

// Instructions of Hopper alone (PTX ISA 8, sm_90a): barriers in shared memory, the copy engine, and
// products of warpgroups. Only files named hopper_*.cu include it, which are compiled for sm_90a.

// --- Barriers in shared memory ---

/// A barrier in shared memory, aligned to 8 bytes. A phase ends when all arrivals and all bytes
/// that were expected are there; then the next one begins. The first phase is number 0.
struct SharedBarrier {
  std::uint64_t state;
};

/// Begins a barrier whose phases have so many arrivals. Then fence_barriers() and a barrier of the
/// block must follow, before other threads use it.
__device__ inline void begin_barrier(SharedBarrier* barrier, std::uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(arrivals)
               : "memory");
}

/// Makes the barriers that this thread has begun visible to the copy engine.
__device__ inline void fence_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

/// Arrives, and lets the phase wait for so many bytes of the copy engine.
__device__ inline void arrive_with_bytes(SharedBarrier* barrier, std::uint32_t bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
      "r"(bytes)
      : "memory");
}

__device__ inline void arrive(SharedBarrier* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier))
               : "memory");
}

/// Waits for the end of phase number `phase`, of which only the last bit is read: the thread must
/// be no more than one phase behind.
__device__ inline void wait_for_phase(SharedBarrier* barrier, std::uint32_t phase) {
  std::uint32_t ended = 0;
  while (ended == 0)
    asm volatile(
        "{\n"
        ".reg .pred ended;\n"
        "mbarrier.try_wait.parity.shared::cta.b64 ended, [%1], %2;\n"
        "selp.u32 %0, 1, 0, ended;\n"
        "}"
        : "=r"(ended)
        : "r"(shared_address(barrier)), "r"(phase & 1)
        : "memory");
}

// --- The copy engine ---

/// Begins the copy of a tile, from a vector and a number on, to shared memory that is aligned to
/// 1024 bytes; its bytes arrive at the barrier. Chunk c of 16 bytes of vector v is at
/// 128 v + 16 (c ^ v % 8). By one thread.
__device__ inline void begin_tile(void* shared, const CUtensorMap* map, std::int32_t first_number,
                                  std::int32_t first_vector, SharedBarrier* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, "
      "%3}], [%4];" ::"r"(shared_address(shared)),
      "l"(map), "r"(first_number), "r"(first_vector), "r"(shared_address(barrier))
      : "memory");
}

// --- Registers of a warpgroup, of which the kernel has a bound at its launch ---

/// Returns the registers above so many, a multiple of 8, by all warps of the warpgroup.
template <int kRegisters>
__device__ inline void release_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

/// Waits until so many registers are there for each thread.
template <int kRegisters>
__device__ inline void acquire_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

// --- Products of warpgroups: four warps, the first of a number that 4 divides ---

/// Vectors of a tile in shared memory from begin_tile(), and 16 numbers of each of them.
struct WarpgroupOperand {
  std::uint64_t descriptor;
};

/// From the first vector of a tile on, a multiple of 8, and from a number on, a multiple of 16.
__device__ inline WarpgroupOperand warpgroup_operand(const void* vectors,
                                                     std::int32_t first_number) {
  // Eight vectors are 1024 bytes; 1: swizzled by 128 bytes.
  constexpr std::uint64_t kLayout =
      (std::uint64_t{1} << 62) | (std::uint64_t{1024 >> 4} << 32) | (std::uint64_t{1} << 16);
  const std::uint32_t address =
      shared_address(vectors) + static_cast<std::uint32_t>(first_number) * 2;
  return {kLayout | ((address & 0x3ffff) >> 4)};
}

/// Sums of a thread of 64 vectors by 128 vectors. Sum 4 n + 2 h + c belongs to row
/// 16 (warp % 4) + lane / 4 + 8 h and column 8 n + lane % 4 * 2 + c.
using WarpgroupSums = float[64];

/// Orders the thread's own uses of sums before the products that follow.
__device__ inline void begin_products() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

#define FUSELAGE_SUMS_8(i)                                                      \
  "+f"(sums[i]), "+f"(sums[(i) + 1]), "+f"(sums[(i) + 2]), "+f"(sums[(i) + 3]), \
      "+f"(sums[(i) + 4]), "+f"(sums[(i) + 5]), "+f"(sums[(i) + 6]), "+f"(sums[(i) + 7])
#define FUSELAGE_MULTIPLY(type)                                                                 \
  asm volatile(                                                                                 \
      "{\n"                                                                                     \
      ".reg .pred adds;\n"                                                                      \
      "setp.ne.b32 adds, %66, 0;\n"                                                             \
      "wgmma.mma_async.sync.aligned.m64n128k16.f32." type "." type                              \
      " {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, " \
      "%19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, "   \
      "%36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, "   \
      "%53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, %64, %65, adds, 1, 1, 0, 0;\n"   \
      "}"                                                                                       \
      : FUSELAGE_SUMS_8(0), FUSELAGE_SUMS_8(8), FUSELAGE_SUMS_8(16), FUSELAGE_SUMS_8(24),       \
        FUSELAGE_SUMS_8(32), FUSELAGE_SUMS_8(40), FUSELAGE_SUMS_8(48), FUSELAGE_SUMS_8(56)      \
      : "l"(rows.descriptor), "l"(columns.descriptor), "r"(adds ? 1 : 0)                        \
      : "memory")

/// Begins sums [64, 128] = rows [64, 16] * columns [128, 16]^T, plus the sums if `adds`, with
/// numbers of T. All threads of the warpgroup must call it. The sums are there, and the operands
/// free, after wait_for_products().
template <typename T>
__device__ void multiply_add(const WarpgroupOperand& rows, const WarpgroupOperand& columns,
                             bool adds, WarpgroupSums& sums);

template <>
__device__ inline void multiply_add<__nv_bfloat16>(const WarpgroupOperand& rows,
                                                   const WarpgroupOperand& columns, bool adds,
                                                   WarpgroupSums& sums) {
  FUSELAGE_MULTIPLY("bf16");
}

template <>
__device__ inline void multiply_add<__half>(const WarpgroupOperand& rows,
                                            const WarpgroupOperand& columns, bool adds,
                                            WarpgroupSums& sums) {
  FUSELAGE_MULTIPLY("f16");
}
#undef FUSELAGE_MULTIPLY
#undef FUSELAGE_SUMS_8

/// Ends a group of products: all that were begun since the last group.
__device__ inline void end_product_group() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

/// Waits for all groups but the last kLeft.
template <int kLeft>
__device__ inline void wait_for_products() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kLeft) : "memory");
}

/// Keeps the compiler from moving reads of the sums before the wait ahead of it.
__device__ inline void take_sums(WarpgroupSums& sums) {
#pragma unroll
  for (float& sum : sums) asm volatile("" : "+f"(sum)::"memory");
}

}  // namespace fuselage::cuda
