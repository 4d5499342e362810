#pragma once

#include <cstddef>

namespace fuselage::cuda {

/// The number of workers of a device with which texts are translated fastest, for weights of
/// `bytes` and a memory that is read at `bytes_per_second`: 2 where a step's time is in launches
/// and their ends, so that the steps of another worker run beside; 1 where a step reads weights for
/// longer than such a step takes: the workers would wait for the same memory, and each needs its
/// own for values.
///
/// Measured on an H200: 115 launches and 0.8 ms of kernel time for a step of 64 sentences, of which
/// reading the weights takes 0.03 ms. 2,737 lines take 3.22, 1.17, 1.12 and 1.21 s with 1, 2, 4 and
/// 8 workers. Large models have not been measured.
std::size_t default_workers(std::size_t bytes, double bytes_per_second);

/// The rate at which the current device reads its memory, by its data sheet; 1 TB/s if it does not
/// tell.
double memory_bytes_per_second();

}  // namespace fuselage::cuda
