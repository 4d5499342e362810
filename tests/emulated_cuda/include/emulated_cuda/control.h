#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

// Controls of the emulation, for tests.

namespace emulated_cuda {

/// Aborts with a message if a guard zone of allocated device memory was written.
void check_guards();

/// The number of allocations of device and page-locked memory since the program began.
std::int64_t allocations();

/// The number of launches of kernels and products since the program began, captured ones included.
std::int64_t launches();

/// The number of launches of kernels that may start before the kernel ahead of them has ended,
/// since the program began.
std::int64_t early_launches();

/// Makes the n-th allocation from now on, counted from 1, and all after it fail as out of memory.
/// 0: none.
void fail_allocation(std::int64_t number);

/// Allocated memory of the current device, in bytes.
std::size_t memory_in_use();

/// Sets the memory of each device, in bytes. 0: FUSELAGE_EMULATION_MEMORY in kB, or 4 GiB.
void set_memory(std::size_t bytes);

/// Sets the driver's version of CUDA, in the form of CUDART_VERSION. 0: no driver.
void set_driver_version(int version);

/// The seed of the order of blocks and threads: FUSELAGE_EMULATION_SEED, or 1.
std::uint64_t seed();
void set_seed(std::uint64_t seed);

}  // namespace emulated_cuda
