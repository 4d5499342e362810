#pragma once

#include <atomic>
#include <memory>

#include "backends/cuda/device/executor/device_program.h"
#include "backends/cuda/device/gemm/blas.h"
#include "backends/executable.h"

namespace fuselage::cuda {

struct WorkerOptions {
  int device = 0;
  bool eager = false;  ///< launch each kernel of a step by itself: for comparisons and profiles
  BlasOptions blas;
};

/// A worker on the current device, which runs programs in a stream of its own. Both programs must
/// outlive it, and `arena`, where it notes the bytes of device memory that its values take. Steps
/// run as captured graphs, one for each of few sizes. No device memory is taken once the largest
/// batch has been seen, and every size of step within it.
std::unique_ptr<Worker> make_cuda_worker(const DeviceProgram& source, const DeviceProgram& step,
                                         const WorkerOptions& options,
                                         std::atomic<std::size_t>& arena);

}  // namespace fuselage::cuda
