#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace fuselage::cuda {

/// Faults that the emulation must detect.
enum class Fault : std::uint8_t {
  race,             ///< reads a neighbour's value without a barrier
  skipped_barrier,  ///< half of the threads skip a barrier
  two_barriers,     ///< each half waits at another barrier
  ended_lane,       ///< the mask of a shuffle has lanes that have ended
  absent_lanes,     ///< the mask of a shuffle has lanes that the block does not have
  bad_source,       ///< a shuffle reads from a lane outside of the mask
  overrun,          ///< writes past the end of `out`
  shared_overrun,   ///< writes past the end of dynamic shared memory
  unset_shared,     ///< reads unwritten static shared memory
  early_half,       ///< may start early, and half of the threads do not wait
};
void launch_fault(cudaStream_t stream, Fault fault, float* out, std::uint32_t threads);

}  // namespace fuselage::cuda
