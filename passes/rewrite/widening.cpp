#include "passes/rewrite/widening.h"

#include "fuselage/ops/precision/quantize.h"

namespace fuselage {

bool is_widening(const Graph& graph, const Node& node) {
  return node.is<op::Cast>() && node.as<op::Cast>().to == DType::f32 &&
         is_half(graph.value(node.operands[0]).type.dtype);
}

namespace match {

Pattern widened(Capture halves) { return op<op::Cast>({any(halves)}).where(is_widening); }

}  // namespace match

}  // namespace fuselage
