#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace fuselage::cuda {

/// Faults that the emulation has to find.
enum class Fault : std::uint8_t {
  race,             ///< a neighbour's number is read without a barrier
  skipped_barrier,  ///< half of the threads go around a barrier
  two_barriers,     ///< each half waits at a barrier of its own
  ended_lane,       ///< a shuffle names lanes that have ended
  absent_lanes,     ///< a shuffle names lanes that the block does not have
  bad_source,       ///< a shuffle reads from a lane that takes no part
  overrun,          ///< writes behind `out`
  shared_overrun,   ///< writes behind the dynamic shared memory
  unset_shared,     ///< reads static shared memory that nothing wrote
};
void launch_fault(cudaStream_t stream, Fault fault, float* out, std::uint32_t threads);

}  // namespace fuselage::cuda
