#include "backends/cpu/runtime/program.h"

#include <fmt/format.h>

#include <utility>

#include "base/registrant.h"

namespace fuselage::cpu {
namespace {

/// Requests the weight of buffer `number`.
void ask_for_weight(Program& program, WeightRegion& weights, std::uint32_t number) {
  const Buffer& buffer = program.plan.buffers[number];
  if (buffer.kind != Buffer::Kind::weight || buffer.constant) return;
  program.weights[number] = weights.stored(weight_type(program.plan.graph, buffer));
}

void ask_for_weights(Program& program, WeightRegion& weights, const BufferView& view) {
  ask_for_weight(program, weights, view.buffer);
  if (view.fallback_buffer != kNone)
    ask_for_weight(program, weights, static_cast<std::uint32_t>(view.fallback_buffer));
}

std::unique_ptr<Kernel> bind_kernel(const KernelEntry& entry, const PlannedInstruction& in,
                                    const Binding& binding) {
  std::unique_ptr<Kernel> kernel;
  try {
    kernel = entry.make(in, binding);
  } catch (...) {
    rethrow_for(entry.registered_by, fmt::format("kernel '{}'", entry.name));
  }
  if (!kernel && !entry.registered_by.empty())
    fail_for(entry.registered_by, fmt::format("kernel '{}'", entry.name),
             "its factory function gives no kernel");
  return kernel;
}

void bind_instruction(Program& program, WeightRegion& weights, std::size_t number) {
  const PlannedInstruction& in = program.plan.instructions[number];
  if (!in.kernel) return;
  const Graph& graph = program.plan.graph;
  std::vector<bool> has_own_form(in.operands.size(), false);
  program.kernels[number] = bind_kernel(static_cast<const KernelEntry&>(*in.kernel), in,
                                        {.graph = graph,
                                         .node = graph.node(in.node),
                                         .plan = program.plan,
                                         .weights = weights,
                                         .has_own_form = has_own_form});
  for (std::size_t i = 0; i < in.operands.size(); ++i)
    if (!has_own_form[i]) ask_for_weights(program, weights, in.operands[i]);
}

}  // namespace

std::unique_ptr<Program> make_program(Graph graph, WeightRegion& weights,
                                      const KernelSet& kernels) {
  auto program = std::make_unique<Program>();
  program->plan = plan_program(std::move(graph), kernels);
  const ProgramPlan& plan = program->plan;
  program->weights.resize(plan.buffers.size());
  for (std::size_t i = 0; i < program->weights.size(); ++i)
    program->weights[i] = plan.buffers[i].constant;
  program->kernels.resize(plan.instructions.size());
  // `next` reads its operand last.
  for (const bool is_next : {false, true})
    for (std::size_t i = 0; i < plan.instructions.size(); ++i)
      if (plan.graph.node(plan.instructions[i].node).has(Trait::loop_next) == is_next)
        bind_instruction(*program, weights, i);
  for (const BufferView& view : plan.outputs) ask_for_weights(*program, weights, view);
  return program;
}

}  // namespace fuselage::cpu
