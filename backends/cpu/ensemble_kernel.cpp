#include "backends/cpu/ensemble_kernel.h"

#include <fmt/format.h>

#include <array>

#include "backends/cpu/operands.h"
#include "backends/cpu/product_kernels.h"
#include "ops/output.h"

namespace fuselage::cpu {

/// The members of a node, and their packed matrices.
struct EnsembleLayers {
  std::vector<MemberOperands> members;
  std::vector<std::shared_ptr<const PackedMatrix>> matrices;
};

namespace {

std::string refuse_member(const Graph& graph, const Node& node, const MemberOperands& member) {
  const Type& x = graph.value(node.operands[member.x]).type;
  const ValueId w = node.operands[member.w];
  if (x.dims.size() != 1) return "it works on one vector a row";
  if (std::string reason = refuse_types(x, graph.value(w).type); !reason.empty()) return reason;
  if (!graph.producer(w).has(Trait::external))
    return "a matrix is not stored, so it cannot be packed when the plan is made";
  if (!member.bias) return "";
  const Type& bias = graph.value(node.operands[*member.bias]).type;
  if (bias.domain != graph.none() || row_size(bias) != matrix_columns(graph, w, x.dims[0]))
    return "a bias is not one element a column, the same for all rows";
  return "";
}

}  // namespace

std::string refuse_ensemble(const Graph& graph, const Node& node) {
  const std::vector<MemberOperands> members = ensemble_members(node);
  if (members.size() > kMaxEnsemble)
    return fmt::format("it takes {} members at most", kMaxEnsemble);
  for (const MemberOperands& member : members)
    if (std::string reason = refuse_member(graph, node, member); !reason.empty()) return reason;
  return "";
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
