#include "backends/cpu/kernels/expression_operands.h"

#include "backends/cpu/kernels/elementwise_tiles.h"
#include "fuselage/backends/plan/refusals.h"
#include "fuselage/ops/fused/chains.h"

namespace fuselage::cpu {

ElementwiseExpression expression_of(const Node& node) {
  return parse_expression(node.as<op::Expression>().expression);
}

std::string refuse_expression(const Graph& graph, const Node& node, std::size_t matrix) {
  if (std::string reason = refuse_elements(graph, node, matrix); !reason.empty()) return reason;
  return ElementwiseTiles::refuse(expression_of(node));
}

std::vector<bool> scalar_operands(const PlannedInstruction& in, std::size_t first) {
  std::vector<bool> scalar;
  for (std::size_t i = first; i < in.operands.size(); ++i)
    scalar.push_back(in.operands[i].cols != in.results[0].cols);
  return scalar;
}

}  // namespace fuselage::cpu
