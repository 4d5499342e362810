#pragma once

#include <memory>
#include <span>
#include <vector>

#include "backends/cuda/device/executor/worker.h"
#include "backends/cuda/device/kernel/kernel_registry.h"
#include "fuselage/backends/executable.h"
#include "fuselage/backends/plan/plan.h"
#include "fuselage/base/tensor.h"
#include "fuselage/passes/lowering/split_by_binding_time.h"

namespace fuselage::cuda {

/// Lowers the three programs of a model to GPUs: computes the load program on the CPU, plans the
/// source and step programs with `kernels`, and for each of `devices` makes their kernels by
/// `registry` and uploads the weights. Throws Error for a node without a kernel, for a weight of
/// the wrong type or shape, and when a device or its memory fails.
std::unique_ptr<Executable> make_cuda_executable(const Programs& programs, const TensorMap& weights,
                                                 const WorkerOptions& options,
                                                 const KernelSet& kernels,
                                                 std::span<const KernelEntry> registry,
                                                 const std::vector<int>& devices = {0});

}  // namespace fuselage::cuda
