#include "passes/fusion/fuse_norm.h"

namespace fuselage {
namespace {

void fuse(Rewriter& rewriter, const Match& match) {
  const Graph& graph = match.graph();
  const ValueId sum = match["sum"];
  std::vector<ValueId> operands = match.node("sum").operands;
  const std::vector<ValueId>& norm = match.root_node().operands;
  operands.insert(operands.end(), norm.begin() + 1, norm.end());
  const NodeId fused = rewriter.add_node("add_layer_norm", std::move(operands),
                                         {{"epsilon", match.root_node().attr<double>("epsilon")}});
  rewriter.replace(match.result(), graph.result(fused, 0));
  rewriter.replace(sum, graph.result(fused, 1));
}

}  // namespace

Pass fuse_norm() {
  Pattern sum = match::op("add").named("sum").shared();
  return {.name = "fuse_norm",
          .rules = {{.name = "residual",
                     .pattern = match::op("layer_norm", {std::move(sum)}).variadic(),
                     .build = fuse}}};
}

}  // namespace fuselage
