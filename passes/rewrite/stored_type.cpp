#include "passes/rewrite/stored_type.h"

#include <set>
#include <vector>

#include "fuselage/ops/precision/quantize.h"
#include "fuselage/ops/structure/leaf.h"
#include "fuselage/ops/structure/shape.h"

namespace fuselage {
namespace {

/// Whether a node's results are numbers of its operands at other places.
bool moves_numbers(const Node& node) {
  return node.is<op::Transpose>() || node.is<op::Concat>() || node.is<op::Slice>() ||
         node.is<op::SliceLeading>();
}

/// The type of the parameter that a node converts to f32.
std::optional<DType> converted_type(const Graph& graph, const Node& node) {
  const bool converts =
      node.is<op::Dequantize>() || (node.is<op::Cast>() && node.as<op::Cast>().to == DType::f32);
  if (!converts || !graph.producer(node.operands[0]).is<op::Param>()) return std::nullopt;
  const DType stored = graph.value(node.operands[0]).type.dtype;
  return stored == DType::f32 ? std::nullopt : std::optional(stored);
}

}  // namespace

std::optional<DType> stored_type(const Graph& graph, ValueId matrix) {
  std::optional<DType> type;
  std::vector<ValueId> pending{matrix};
  std::set<std::uint32_t> seen;
  while (!pending.empty()) {
    const ValueId value = pending.back();
    pending.pop_back();
    if (!seen.insert(value.index).second) continue;
    const Node& node = graph.producer(value);
    if (moves_numbers(node)) {
      pending.insert(pending.end(), node.operands.begin(), node.operands.end());
      continue;
    }
    const auto part = converted_type(graph, node);
    if (!part || (type && type != part)) return std::nullopt;
    type = part;
  }
  return type;
}

}  // namespace fuselage
