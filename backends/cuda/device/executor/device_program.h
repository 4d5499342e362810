#pragma once

#include <memory>
#include <span>
#include <vector>

#include "backends/cuda/device/gemm/device_weights.h"
#include "backends/cuda/device/kernel/kernel.h"
#include "backends/plan/plan.h"

namespace fuselage::cuda {

/// A planned program with its kernels and weights on the device. Immutable; workers share it.
class DeviceProgram {
 public:
  /// Makes a kernel for each instruction and uploads the weights that they read as they are. The
  /// weights must outlive the program.
  DeviceProgram(ProgramPlan plan, DeviceWeights& weights, std::span<const KernelFactory> factories);
  DeviceProgram(const DeviceProgram&) = delete;
  DeviceProgram& operator=(const DeviceProgram&) = delete;

  const ProgramPlan& plan() const { return plan_; }
  /// The kernel of an instruction; nullptr for a view.
  const Kernel* kernel(std::size_t instruction) const { return kernels_[instruction].get(); }
  /// The numbers of each weight buffer; nullptr for others and those that nobody reads.
  const std::vector<const std::byte*>& weights() const { return weights_; }

 private:
  void bind(const PlannedInstruction& in, DeviceWeights& weights,
            std::span<const KernelFactory> factories);
  void upload(const BufferView& view, DeviceWeights& weights);
  void upload_buffer(std::size_t number, DeviceWeights& weights);

  ProgramPlan plan_;
  std::vector<std::unique_ptr<Kernel>> kernels_;
  std::vector<const std::byte*> weights_;
};

}  // namespace fuselage::cuda
