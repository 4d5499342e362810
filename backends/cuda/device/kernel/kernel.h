#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "backends/cuda/device/rows/device_rows.h"
#include "backends/cuda/device/runtime/rows.h"
#include "backends/plan/plan.h"

namespace fuselage::cuda {

class Blas;           // blas.h
class Cudnn;          // cudnn.h
class DeviceWeights;  // device_weights.h

/// Device memory that kernels of one stream may use one after the other; what is in it does not
/// outlast a launch.
struct Workspace {
  std::byte* data = nullptr;
  std::size_t bytes = 0;
};

/// What a kernel finds when it is launched. Pointers stay good as long as a captured launch lives.
struct Run {
  cudaStream_t stream = nullptr;
  const DeviceRows& rows;
  const std::vector<Buffer>& plan_buffers;
  const std::vector<std::byte*>& buffers;           ///< in device memory, by number of the buffer
  const std::vector<const std::int32_t*>& indexes;  ///< in device memory, by number of the slot
  Workspace workspace;
  Blas& blas;
  Cudnn& cudnn;
};

/// What a kernel may look at when it is bound to a node.
struct Binding {
  const Graph& graph;
  const Node& node;
  const ProgramPlan& plan;
  DeviceWeights& weights;
};

/// The most rows that domains can have while a launch lives.
using RowBounds = DeviceRows;

/// A kernel bound to a node of a plan: what it has read of the attributes, and its matrices.
/// Immutable; workers share it.
class Kernel {
 public:
  virtual ~Kernel() = default;

  /// Puts its launches at the end of run.stream. Reads nothing of device memory on the host.
  virtual void launch(const PlannedInstruction& in, const Run& run) const = 0;

  /// Device memory that a launch needs beside operands and results, for rows within these bounds.
  virtual std::size_t workspace_bytes(const PlannedInstruction&, const RowBounds&) const {
    return 0;
  }
};

/// Makes a kernel of the table kernel_rows.h, by the name that it has there.
struct KernelFactory {
  std::string_view name;
  std::unique_ptr<Kernel> (*make)(const PlannedInstruction& in, const Binding& binding);
};

// One function a file of kernels: those that it makes.
std::span<const KernelFactory> element_kernels();
std::span<const KernelFactory> row_kernels();
std::span<const KernelFactory> normalization_kernels();
std::span<const KernelFactory> attention_kernels();
std::span<const KernelFactory> loop_kernels();
std::span<const KernelFactory> quantize_kernels();
std::span<const KernelFactory> product_kernels();
std::span<const KernelFactory> output_kernels();
std::span<const KernelFactory> recurrent_kernels();  // with cuDNN's header

}  // namespace fuselage::cuda
