#pragma once

#include <cstdint>
#include <functional>

// What tests ask of the emulated CUDA.

namespace emulated_cuda {

/// Aborts with a message if anything was written next to device memory that is still allocated.
void check_guards();

/// How often device or page-locked memory was taken, since the program began.
std::int64_t allocations();

/// The allocation of this number fails, as for want of memory, counted from 1 and from now on; 0:
/// none.
void fail_allocation(std::int64_t number);

/// A driver for this version of CUDA, as CUDART_VERSION numbers them; 0: none.
void set_driver_version(int version);

/// The seed of the order in which blocks and threads run: FUSELAGE_EMULATION_SEED, or 1.
std::uint64_t seed();
void set_seed(std::uint64_t seed);

}  // namespace emulated_cuda
