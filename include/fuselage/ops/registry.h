#pragma once

#include <initializer_list>
#include <span>

#include "fuselage/base/api.h"
#include "fuselage/graph/graph.h"

namespace FUSELAGE_API fuselage {

/// The ops of Fuselage and all registered ops: the one registry of the process. An op of Fuselage
/// has its struct and definition in the files of its family; registry.cpp lists the families.
const OpRegistry& all_ops();

/// Adds copies of the definitions to all_ops(), all or none; see docs/add-an-op.md. Thread-safe,
/// and possible during the static initialization of another library. Throws Error as
/// OpRegistry::add.
void register_ops(std::span<const OpDef> ops);
inline void register_ops(std::initializer_list<OpDef> ops) {
  register_ops(std::span(ops.begin(), ops.size()));
}

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
