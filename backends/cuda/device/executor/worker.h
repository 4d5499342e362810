#pragma once

#include <atomic>
#include <memory>

#include "backends/cuda/device/executor/device_program.h"
#include "backends/cuda/device/gemm/blas.h"
#include "backends/output_places.h"
#include "fuselage/backends/executable.h"

namespace fuselage::cuda {

struct WorkerOptions {
  bool eager = false;  ///< launch kernels one by one, without captured graphs: for comparisons
  BlasOptions blas;
};

/// A worker with its own stream and memory on a device, where the programs are. The arguments must
/// outlive it; `arena` receives the bytes of its values and workspace. Steps run as captured
/// graphs, one for each bucket of sizes. After the largest batch, with all sizes of its steps, a
/// worker allocates no more device memory.
std::unique_ptr<Worker> make_cuda_worker(const DeviceProgram& source, const DeviceProgram& step,
                                         const OutputPlaces& outputs, const TensorMap& load_outputs,
                                         int device, const WorkerOptions& options,
                                         std::atomic<std::size_t>& arena);

}  // namespace fuselage::cuda
