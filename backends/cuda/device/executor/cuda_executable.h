#pragma once

#include <memory>
#include <span>

#include "backends/cuda/device/executor/worker.h"
#include "backends/cuda/device/kernel/kernel.h"
#include "backends/executable.h"
#include "backends/plan/plan.h"
#include "base/tensor.h"
#include "passes/lowering/split_by_binding_time.h"

namespace fuselage::cuda {

/// Lowers the three programs of a model to a GPU: computes the load program on the CPU, plans the
/// others with `kernels`, makes these by `factories`, and brings weights to the device. Throws
/// Error where no kernel runs a node, for a weight that does not fit, and when device or memory
/// fail.
std::unique_ptr<Executable> make_cuda_executable(const Programs& programs, const TensorMap& weights,
                                                 const WorkerOptions& options,
                                                 const KernelSet& kernels,
                                                 std::span<const KernelFactory> factories);

}  // namespace fuselage::cuda
