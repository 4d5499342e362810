#pragma once

#include <memory>
#include <span>
#include <vector>

#include "backends/cuda/device/gemm/device_weights.h"
#include "backends/cuda/device/kernel/kernel_registry.h"
#include "fuselage/backends/plan/plan.h"

namespace fuselage::cuda {

/// A planned program with its kernels and weights on the device. Immutable; workers share it.
class DeviceProgram {
 public:
  /// Makes a kernel for each instruction, and uploads the weights that kernels read in the graph's
  /// form. `weights` must outlive the program.
  DeviceProgram(ProgramPlan plan, DeviceWeights& weights, std::span<const KernelEntry> registry);
  DeviceProgram(const DeviceProgram&) = delete;
  DeviceProgram& operator=(const DeviceProgram&) = delete;

  const ProgramPlan& plan() const { return plan_; }
  /// The kernel of an instruction; nullptr for a view.
  const Kernel* kernel(std::size_t instruction) const { return kernels_[instruction].get(); }
  /// Device memory of weight buffers, by buffer number; nullptr for other and unread buffers.
  const std::vector<const std::byte*>& weights() const { return weights_; }

 private:
  void bind(const PlannedInstruction& in, DeviceWeights& weights,
            std::span<const KernelEntry> registry);
  void upload(const BufferView& view, DeviceWeights& weights);
  void upload_buffer(std::size_t number, DeviceWeights& weights);

  ProgramPlan plan_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::vector<const std::byte*> weights_;
};

}  // namespace fuselage::cuda
