#pragma once

#include <vector_types.h>

#include <cstdint>

#include "fuselage/base/location.h"

// NOLINTBEGIN(readability-identifier-naming): CUDA gave the names.

// The indexes of the running thread, set by the emulation at each switch.
extern constinit thread_local uint3 threadIdx;
extern constinit thread_local uint3 blockIdx;
extern constinit thread_local dim3 blockDim;
extern constinit thread_local dim3 gridDim;
inline constexpr int warpSize = 32;

namespace emulated_cuda {

/// Waits until every thread of the block is at this barrier. Aborts if a thread has ended or waits
/// elsewhere.
void synchronize_block(fuselage::CodeLocation where);

/// A barrier that also reduces the predicates of all threads.
struct Votes {
  std::uint32_t for_it = 0, all = 0;
};
Votes synchronize_block(bool predicate, fuselage::CodeLocation where);

/// A warp-level operation of a lane.
struct Exchange {
  const char* name = "";                                             ///< the intrinsic
  std::uint32_t mask = 0;                                            ///< lanes that take part
  fuselage::CodeLocation where = fuselage::CodeLocation::current();  ///< the call
};

/// Waits until all lanes of the mask are at this call and returns the value of lane `source`.
/// Aborts if a lane of the mask has ended or waits elsewhere, or if `source` is not in the mask.
std::uint64_t exchange(const Exchange& operation, std::uint64_t bits, std::uint32_t source);

/// The lanes of the mask with a true predicate.
std::uint32_t ballot(const Exchange& operation, bool predicate);

/// A thread of a kernel that may start early has waited for the kernels before it.
void wait_for_earlier_kernels();

/// The running thread's lane.
std::uint32_t lane();

void* dynamic_shared_memory();

}  // namespace emulated_cuda

inline void __syncthreads(fuselage::CodeLocation where = fuselage::CodeLocation::current()) {
  emulated_cuda::synchronize_block(where);
}
inline int __syncthreads_or(int predicate,
                            fuselage::CodeLocation where = fuselage::CodeLocation::current()) {
  return emulated_cuda::synchronize_block(predicate != 0, where).for_it != 0;
}
inline int __syncthreads_and(int predicate,
                             fuselage::CodeLocation where = fuselage::CodeLocation::current()) {
  const emulated_cuda::Votes votes = emulated_cuda::synchronize_block(predicate != 0, where);
  return votes.for_it == votes.all;
}
inline int __syncthreads_count(int predicate,
                               fuselage::CodeLocation where = fuselage::CodeLocation::current()) {
  return static_cast<int>(emulated_cuda::synchronize_block(predicate != 0, where).for_it);
}

inline void __threadfence() {}
inline void __threadfence_block() {}

// NOLINTEND(readability-identifier-naming)
