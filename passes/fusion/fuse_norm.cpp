#include "passes/fusion/fuse_norm.h"

#include <string>
#include <string_view>

#include "fuselage/ops/arithmetic/normalization.h"
#include "fuselage/ops/arithmetic/pointwise.h"
#include "fuselage/ops/fused/chains.h"

namespace fuselage {
namespace {

constexpr Capture kSum{"sum"};

/// Replaces a sum and its normalization by one node of an op::AddNorm.
template <typename Fused>
void fuse_sum(Rewriter& rewriter, const Match& match) {
  const Graph& graph = match.graph();
  const ValueId sum = match[kSum];
  std::vector<ValueId> operands = match.node(kSum).operands;
  const std::vector<ValueId>& norm = match.root_node().operands;
  operands.insert(operands.end(), norm.begin() + 1, norm.end());
  Fused attributes;
  attributes.epsilon = match.root_node().as<op::Epsilon>().epsilon;
  const NodeId fused = rewriter.add_node(attributes, std::move(operands));
  rewriter.replace(match.result(), graph.result(fused, 0));
  rewriter.replace(sum, graph.result(fused, 1));
}

template <typename Norm, typename Fused>
Rule with_residual(std::string_view name) {
  Pattern sum = match::op<op::Add>().named(kSum).shared();
  return {.name = std::string(name),
          .pattern = match::op<Norm>({std::move(sum)}).variadic(),
          .build = fuse_sum<Fused>};
}

}  // namespace

Pass fuse_norm() {
  return {.name = "fuse_norm",
          .rules = {with_residual<op::LayerNorm, op::AddLayerNorm>("residual"),
                    with_residual<op::RmsNorm, op::AddRmsNorm>("rms_residual")}};
}

}  // namespace fuselage
