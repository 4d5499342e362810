#pragma once

#include <string>
#include <vector>

#include "fuselage/graph/graph.h"

namespace fuselage {

/// The types of a node's results by its op. A fault of an op that a program or an extension
/// registered is an ExtensionError; Errors, which are about operands and attributes, stay.
std::vector<Type> infer_types(const Graph& graph, const Node& node);

/// "op 'square'", for rethrow_for().
std::string registered_op(const OpDef& op);

}  // namespace fuselage
