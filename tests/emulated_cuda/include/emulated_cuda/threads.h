#pragma once

#include <vector_types.h>

#include <cstdint>

#include "base/location.h"

// NOLINTBEGIN(readability-identifier-naming): CUDA gave the names.

// Where the thread that runs stands. Set by the emulation whenever another one takes over.
extern constinit thread_local uint3 threadIdx;
extern constinit thread_local uint3 blockIdx;
extern constinit thread_local dim3 blockDim;
extern constinit thread_local dim3 gridDim;
inline constexpr int warpSize = 32;

namespace emulated_cuda {

/// Waits until every thread of the block is at this barrier. Aborts where one ended or waits
/// elsewhere.
void synchronize_block(fuselage::CodeLocation where);

/// The same, and what the predicates of all threads come to.
struct Votes {
  std::uint32_t for_it = 0, all = 0;
};
Votes synchronize_block(bool predicate, fuselage::CodeLocation where);

/// What a lane brings to an operation of its warp.
struct Exchange {
  const char* name = "";                                             ///< the intrinsic
  std::uint32_t mask = 0;                                            ///< lanes that take part
  fuselage::CodeLocation where = fuselage::CodeLocation::current();  ///< the call
};

/// Waits until all lanes of the mask are at this call and returns what lane `source` of the warp
/// brought. Aborts where a lane of the mask ended or waits elsewhere, or `source` takes no part.
std::uint64_t exchange(const Exchange& operation, std::uint64_t bits, std::uint32_t source);

/// The lanes of the mask whose predicate is true.
std::uint32_t ballot(const Exchange& operation, bool predicate);

/// Lane of the running thread within its warp.
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
