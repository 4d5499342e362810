#pragma once

#include <cstdint>
#include <functional>

// Controls of the emulation, for tests.

namespace emulated_cuda {

/// Aborts with a message if a guard zone of allocated device memory was written.
void check_guards();

/// The number of allocations of device and page-locked memory since the program began.
std::int64_t allocations();

/// Makes the n-th allocation from now on fail as out of memory, counted from 1. 0: none.
void fail_allocation(std::int64_t number);

/// Sets the driver's version of CUDA, in the form of CUDART_VERSION. 0: no driver.
void set_driver_version(int version);

/// The seed of the order of blocks and threads: FUSELAGE_EMULATION_SEED, or 1.
std::uint64_t seed();
void set_seed(std::uint64_t seed);

}  // namespace emulated_cuda
