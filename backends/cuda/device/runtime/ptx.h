#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

namespace fuselage::cuda {

// Instructions without an intrinsic in CUDA C++ (PTX ISA 8). All inline assembly is in this file,
// in hopper_ptx.h and, for kernels that are compiled at run time, in
// backends/cuda/elementwise_source.cpp.

// --- Programmatic dependent launch (sm_90; on earlier devices kernels do not start early) ---

/// Waits until all kernels that this one depends on have ended and what they wrote is visible.
__device__ inline void wait_for_earlier_kernels() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/// Lets the next kernel's blocks start once all blocks of this one have called it or have ended.
__device__ inline void let_next_kernel_start() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

// --- Loads and numbers ---

/// Loads 16 bytes that are read once and do not change while the kernel runs, without allocation in
/// the L1 cache.
__device__ inline uint4 load_once(const uint4* from) {
  uint4 bits;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(bits.x), "=r"(bits.y), "=r"(bits.z), "=r"(bits.w)
               : "l"(from));
  return bits;
}

/// 2^x to within 2 units in the last place; subnormal results are 0.
__device__ inline float fast_exp2(float x) {
  float result;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(x));
  return result;
}

// --- Asynchronous copies to shared memory ---

__device__ inline std::uint32_t shared_address(const void* shared) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
}

/// Begins a copy of 16 bytes. Unless `is_there`, writes zeros and reads nothing.
__device__ inline void begin_copy(void* shared, const void* global, bool is_there) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(shared)),
               "l"(global), "r"(is_there ? 16 : 0)
               : "memory");
}

/// Ends a group of copies: all that this thread has begun since the last group.
__device__ inline void end_copy_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }

/// Waits for all groups of this thread but the last kLeft. Other threads see the copies after a
/// barrier.
template <int kLeft>
__device__ inline void wait_for_copy_groups() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kLeft) : "memory");
}

// --- Tensor cores ---

/// Loads four 8 x 8 matrices of 16-bit numbers. Lane l passes the address of row l % 8 of matrix
/// l / 8, and receives columns 2 (l % 4) and 2 (l % 4) + 1 of row l / 4 of each matrix.
__device__ inline void load_matrices(const void* row, std::uint32_t (&fragments)[4]) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(fragments[0]), "=r"(fragments[1]), "=r"(fragments[2]), "=r"(fragments[3])
               : "r"(shared_address(row))
               : "memory");
}

/// sums [16, 8] += a [16, 16] * b [16, 8], with elements of T. The fragments of a lane, with
/// g = lane / 4 and t = lane % 4:
///     sums  columns 2t, 2t + 1 of rows g, g + 8
///     a     columns 2t, 2t + 1 and 2t + 8, 2t + 9 of rows g, g + 8
///     b     rows 2t, 2t + 1 and 2t + 8, 2t + 9 of column g
template <typename T>
__device__ void multiply_add(const std::uint32_t (&a)[4], std::uint32_t b0, std::uint32_t b1,
                             float (&sums)[4]);

template <>
__device__ inline void multiply_add<__nv_bfloat16>(const std::uint32_t (&a)[4], std::uint32_t b0,
                                                   std::uint32_t b1, float (&sums)[4]) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

template <>
__device__ inline void multiply_add<__half>(const std::uint32_t (&a)[4], std::uint32_t b0,
                                            std::uint32_t b1, float (&sums)[4]) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
      "{%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

}  // namespace fuselage::cuda
