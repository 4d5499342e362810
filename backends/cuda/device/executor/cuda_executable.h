#pragma once

#include <memory>
#include <span>

#include "backends/cuda/device/executor/worker.h"
#include "backends/cuda/device/kernel/kernel_registry.h"
#include "fuselage/backends/executable.h"
#include "fuselage/backends/plan/plan.h"
#include "fuselage/base/tensor.h"
#include "fuselage/passes/lowering/split_by_binding_time.h"

namespace fuselage::cuda {

/// Lowers the three programs of a model to a GPU: computes the load program on the CPU, plans the
/// source and step programs with `kernels`, makes their kernels by `registry`, and uploads weights.
/// Throws Error for a node without a kernel, for a weight of the wrong type or shape, and when the
/// device or its memory fails.
std::unique_ptr<Executable> make_cuda_executable(const Programs& programs, const TensorMap& weights,
                                                 const WorkerOptions& options,
                                                 const KernelSet& kernels,
                                                 std::span<const KernelEntry> registry);

}  // namespace fuselage::cuda
