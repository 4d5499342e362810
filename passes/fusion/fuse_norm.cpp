#include "passes/fusion/fuse_norm.h"

#include "fuselage/ops/fused.h"
#include "fuselage/ops/normalization.h"
#include "fuselage/ops/pointwise.h"

namespace fuselage {
namespace {

constexpr Capture kSum{"sum"};

void fuse(Rewriter& rewriter, const Match& match) {
  const Graph& graph = match.graph();
  const ValueId sum = match[kSum];
  std::vector<ValueId> operands = match.node(kSum).operands;
  const std::vector<ValueId>& norm = match.root_node().operands;
  operands.insert(operands.end(), norm.begin() + 1, norm.end());
  const NodeId fused =
      rewriter.add_node(op::AddLayerNorm{.epsilon = match.root_node().as<op::Epsilon>().epsilon},
                        std::move(operands));
  rewriter.replace(match.result(), graph.result(fused, 0));
  rewriter.replace(sum, graph.result(fused, 1));
}

}  // namespace

Pass fuse_norm() {
  Pattern sum = match::op<op::Add>().named(kSum).shared();
  return {.name = "fuse_norm",
          .rules = {{.name = "residual",
                     .pattern = match::op<op::LayerNorm>({std::move(sum)}).variadic(),
                     .build = fuse}}};
}

}  // namespace fuselage
