#include "backends/cuda/device/executor/device_program.h"

#include <algorithm>

#include "fuselage/base/error.h"

namespace fuselage::cuda {

DeviceProgram::DeviceProgram(ProgramPlan plan, DeviceWeights& weights,
                             std::span<const KernelEntry> registry)
    : plan_(std::move(plan)), weights_(plan_.buffers.size(), nullptr) {
  for (const PlannedInstruction& in : plan_.instructions) bind(in, weights, registry);
  for (const BufferView& view : plan_.outputs) upload(view, weights);
}

void DeviceProgram::bind(const PlannedInstruction& in, DeviceWeights& weights,
                         std::span<const KernelEntry> registry) {
  kernels_.emplace_back();
  if (!in.kernel) return;
  const auto entry = std::find_if(registry.begin(), registry.end(), [&](const KernelEntry& known) {
    return known.name == in.kernel->name;
  });
  check(entry != registry.end(), "a kernel of kernel_table.cpp is not registered");
  const Binding binding{plan_.graph, plan_.graph.node(in.node), plan_, weights};
  kernels_.back() = entry->make(in, binding);
  for (const BufferView& operand : in.operands)
    if (!weights.has_own_form(operand)) upload(operand, weights);
}

void DeviceProgram::upload(const BufferView& view, DeviceWeights& weights) {
  upload_buffer(view.buffer, weights);
  if (view.fallback_buffer != kNone)
    upload_buffer(static_cast<std::size_t>(view.fallback_buffer), weights);
}

void DeviceProgram::upload_buffer(std::size_t number, DeviceWeights& weights) {
  const Buffer& buffer = plan_.buffers[number];
  if (buffer.kind == Buffer::Kind::weight && !weights_[number])
    weights_[number] = weights.stored(plan_, buffer);
}

}  // namespace fuselage::cuda
