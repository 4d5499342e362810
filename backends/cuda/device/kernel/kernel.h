#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/cuda/device/rows/device_rows.h"
#include "backends/cuda/device/runtime/rows.h"
#include "fuselage/backends/plan/plan.h"

namespace fuselage::cuda {

class Blas;           // gemm/blas.h
class Cudnn;          // recurrent/cudnn.h
class DeviceWeights;  // gemm/device_weights.h

/// Scratch memory on the device, shared by the kernels of one stream. Its contents do not outlast a
/// launch.
struct Workspace {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
};

/// The state of a run of a program that launches read. Pointers stay valid as long as a captured
/// launch.
struct Run {
  cudaStream_t stream = nullptr;
  const DeviceRows& rows;
  const std::vector<Buffer>& plan_buffers;
  const std::vector<std::byte*>& buffers;           ///< device memory, by buffer number
  const std::vector<const std::int32_t*>& indexes;  ///< device memory, by slot number
  Workspace workspace;
  Blas& blas;
  Cudnn& cudnn;
};

/// The node that a kernel is made for, its graph and plan, and the model's weights.
struct Binding {
  const Graph& graph;
  const Node& node;
  const ProgramPlan& plan;
  DeviceWeights& weights;
};

/// Bounds on the rows of all domains, for as long as a launch is used.
using RowBounds = DeviceRows;

/// A kernel bound to a node of a plan, with the node's attributes and matrices. Immutable; workers
/// share it.
class Kernel {
 public:
  virtual ~Kernel() = default;

  /// Enqueues the launches in run.stream. Must not read device memory on the host.
  virtual void launch(const PlannedInstruction& in, const Run& run) const = 0;

  /// Bytes of workspace that a launch needs for rows within these bounds.
  virtual std::size_t workspace_bytes(const PlannedInstruction&, const RowBounds&) const {
    return 0;
  }
};

}  // namespace fuselage::cuda
