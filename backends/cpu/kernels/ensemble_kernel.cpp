#include "backends/cpu/kernels/ensemble_kernel.h"

#include <array>

#include "backends/cpu/kernels/product_kernels.h"
#include "backends/cpu/runtime/operands.h"
#include "backends/plan/refusals.h"
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
  EnsembleLayers layers{.members = ensemble_members(binding.node.as<op::EnsembleKBest>()),
                        .matrices = {}};
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

namespace {

void run_rows(const Instruction& in, const Run& run, std::size_t first, std::size_t last) {
  const EnsembleLayers& layers = *in.ensemble;
  std::array<EnsembleMember, kMaxEnsemble> members;
  for (std::size_t i = 0; i < layers.members.size(); ++i) {
    const MemberOperands& member = layers.members[i];
    members[i] = {.a = rows_from(rows_in(in, run, member.x), first),
                  .matrix = layers.matrices[i].get(),
                  .bias = member.bias ? plain_in<const float>(in, run, *member.bias) : nullptr,
                  .weight = static_cast<float>(member.weight)};
  }
  const std::size_t k = cols_of(in);
  run.kernels.ensemble_k_best({members.data(), layers.members.size()}, last - first, k,
                              result_at(in, run, 0) + first * k,
                              result_at<std::int32_t>(in, run, 1) + first * k);
}

}  // namespace

/// Threads share the rows.
void run_ensemble(const Instruction& in, const Run& run) {
  const std::size_t rows = rows_of(in, run);
  std::size_t work = 0;
  for (const auto& matrix : in.ensemble->matrices) work += work_of(*matrix, rows);
  in_parts(run, rows, work,
           [&](std::size_t first, std::size_t last) { run_rows(in, run, first, last); });
}

}  // namespace fuselage::cpu
