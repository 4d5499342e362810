#pragma once

#include "fuselage/base/api.h"
#include "fuselage/graph/graph.h"

namespace FUSELAGE_API fuselage {

/// All ops of Fuselage. To add an op, write its struct and definition in the files of its family,
/// and list a new family in registry.cpp; see docs/add-an-op.md.
const OpRegistry& all_ops();

/// The op named `name`; an internal error if there is none.
const OpDef& find_op(std::string_view name);

/// The definition of the op declared by Op.
template <OpStruct Op>
const OpDef& op_def() {
  static const OpDef& definition = find_op(Op::kName);
  return definition;
}

/// Adds a node to a graph. Throws Error if operands or attributes are invalid.
template <OpStruct Op>
NodeId add_node(Graph& graph, const Op& op, const std::vector<ValueId>& operands = {},
                const Location& location = {}) {
  return graph.add_node(op_def<Op>(), operands, attribute_values(op), location);
}

}  // namespace fuselage
