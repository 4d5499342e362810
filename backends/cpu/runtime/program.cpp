#include "backends/cpu/runtime/program.h"

#include <utility>

namespace fuselage::cpu {
namespace {

/// What a buffer is filled with must be there when the program runs.
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

void bind_instruction(Program& program, WeightRegion& weights, Instruction& in) {
  if (!in.kernel) return;
  const auto& row = static_cast<const KernelRow&>(*in.kernel);
  in.run = row.run;
  in.has_own_form.resize(in.operands.size(), false);
  const Graph& graph = program.plan.graph;
  if (row.bind) row.bind(in, {graph, graph.node(in.node), program.plan, weights});
  for (std::size_t i = 0; i < in.operands.size(); ++i)
    if (!in.has_own_form[i]) ask_for_weights(program, weights, in.operands[i]);
}

}  // namespace

std::unique_ptr<Program> make_program(Graph graph, WeightRegion& weights,
                                      std::span<const KernelRow> first) {
  auto program = std::make_unique<Program>();
  program->plan = plan_program(std::move(graph), kernel_set(first));
  program->weights.resize(program->plan.buffers.size());
  for (std::size_t i = 0; i < program->weights.size(); ++i)
    program->weights[i] = program->plan.buffers[i].constant;
  for (const PlannedInstruction& planned : program->plan.instructions)
    program->instructions.emplace_back(planned, program->plan.graph);
  // What `next` copies is read last.
  for (const bool is_next : {false, true})
    for (Instruction& in : program->instructions)
      if (program->plan.graph.node(in.node).has(Trait::loop_next) == is_next)
        bind_instruction(*program, weights, in);
  for (const BufferView& view : program->plan.outputs) ask_for_weights(*program, weights, view);
  return program;
}

}  // namespace fuselage::cpu
