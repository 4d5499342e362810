// Fused output layers of ensembles.

#include <array>
#include <vector>

#include "backends/cpu/kernels/kernel_families.h"
#include "backends/cpu/kernels/product_operands.h"
#include "backends/cpu/runtime/parts.h"
#include "backends/cpu/runtime/weight_operands.h"
#include "backends/cpu/simd/table.h"
#include "fuselage/backends/cpu/runtime/make_kernel.h"
#include "fuselage/backends/cpu/runtime/operands.h"
#include "fuselage/backends/plan/refusals.h"
#include "fuselage/ops/fused/output.h"

namespace fuselage::cpu {
namespace {

/// ensemble_k_best. Rows are divided among threads.
class OutputLayers final : public Kernel {
 public:
  OutputLayers(const PlannedInstruction& in, const Binding& binding)
      : members_(ensemble_members(binding.node.as<op::EnsembleKBest>())) {
    const std::vector<ValueId>& operands = binding.node.operands;
    for (const MemberOperands& member : members_)
      matrices_.push_back(packed_operand(
          in, binding, member.w,
          packed_shape(binding.graph, operands[member.x], operands[member.w], member.transposed)));
  }

  void run(const PlannedInstruction& in, const Run& run) const override {
    const std::size_t rows = rows_of(in, run);
    std::size_t work = 0;
    for (const auto& matrix : matrices_) work += work_of(*matrix, rows);
    in_parts(run, rows, work,
             [&](std::size_t first, std::size_t last) { run_rows(in, run, first, last); });
  }

 private:
  void run_rows(const PlannedInstruction& in, const Run& run, std::size_t first,
                std::size_t last) const {
    std::array<WeightedLayer, kMaxEnsemble> layers;
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const MemberOperands& member = members_[i];
      layers[i] = {.a = rows_from(rows_in(in, run, member.x), first),
                   .matrix = matrices_[i].get(),
                   .bias = member.bias ? plain_in<const float>(in, run, *member.bias) : nullptr,
                   .weight = static_cast<float>(member.weight)};
    }
    const std::size_t k = cols_of(in);
    run.kernels.ensemble_k_best({layers.data(), members_.size()}, last - first, k,
                                result_at(in, run, 0) + first * k,
                                result_at<std::int32_t>(in, run, 1) + first * k);
  }

  std::vector<MemberOperands> members_;
  std::vector<std::shared_ptr<const PackedMatrix>> matrices_;
};

std::string refuse_layers(const Graph& graph, const Node& node) {
  return refuse_ensemble(graph, node, kMaxEnsemble);
}

}  // namespace

std::span<const KernelEntry> ensemble_kernels() {
  using enum Reads;
  static constexpr KernelEntry kKernels[] = {
      {{.op = op::EnsembleKBest::kName,
        .name = "output_layers",
        .reads = all_operands(view),
        .refuse = refuse_layers},
       make_kernel<OutputLayers>},
  };
  return kKernels;
}

}  // namespace fuselage::cpu
