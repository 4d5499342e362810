#include "backends/cpu/ensemble_kernel.h"

#include <array>

#include "backends/cpu/operands.h"
#include "backends/cpu/product_kernels.h"
#include "backends/refusals.h"
#include "ops/output.h"

namespace fuselage::cpu {

/// The members of a node, and their packed matrices.
struct EnsembleLayers {
  std::vector<MemberOperands> members;
  std::vector<std::shared_ptr<const PackedMatrix>> matrices;
};

std::string refuse_layers(const Graph& graph, const Node& node) {
  return refuse_ensemble(graph, node, kMaxEnsemble);
}

void bind_ensemble(Instruction& in, const Binding& binding) {
  EnsembleLayers layers{.members = ensemble_members(binding.node), .matrices = {}};
  for (const MemberOperands& member : layers.members) {
    const Type& x = binding.graph.value(binding.node.operands[member.x]).type;
    const std::int64_t k = x.dims[0];
    const ValueId w = binding.node.operands[member.w];
    layers.matrices.push_back(
        packed_operand(in, binding, member.w,
                       {.k = k,
                        .n = matrix_columns(binding.graph, w, k),
                        .transposed = member.transposed,
                        .dtype = packed_type(x, binding.graph.value(w).type)}));
  }
  in.ensemble = std::make_shared<EnsembleLayers>(std::move(layers));
}

void run_ensemble(const Instruction& in, const Run& run) {
  const EnsembleLayers& layers = *in.ensemble;
  std::array<EnsembleMember, kMaxEnsemble> members;
  for (std::size_t i = 0; i < layers.members.size(); ++i) {
    const MemberOperands& member = layers.members[i];
    members[i] = {.a = rows_in(in, run, member.x),
                  .matrix = layers.matrices[i].get(),
                  .bias = member.bias ? plain_in<const float>(in, run, *member.bias) : nullptr,
                  .weight = static_cast<float>(member.weight)};
  }
  run.kernels.ensemble_k_best({members.data(), layers.members.size()}, rows_of(in, run),
                              cols_of(in), result_at(in, run, 0),
                              result_at<std::int32_t>(in, run, 1));
}

}  // namespace fuselage::cpu
