#pragma once

#include "graph/graph.h"

namespace fuselage {

/// Every op of Fuselage. To add one, write its struct and its definition beside its family, and
/// list a new family in registry.cpp; see docs/add-an-op.md.
const OpRegistry& all_ops();

/// The op of that name; an internal error when there is none.
const OpDef& find_op(std::string_view name);

/// The definition of the op that Op declares.
template <OpStruct Op>
const OpDef& op_def() {
  static const OpDef& definition = find_op(Op::kName);
  return definition;
}

/// Adds a node to a graph. Throws Error when operands or attributes do not fit.
template <OpStruct Op>
NodeId add_node(Graph& graph, const Op& op, std::vector<ValueId> operands = {},
                Location location = {}) {
  return graph.add_node(op_def<Op>(), std::move(operands), attribute_values(op),
                        std::move(location));
}

}  // namespace fuselage
