#pragma once

#include "fuselage/ops/evaluate.h"
#include "fuselage/ops/row_function.h"

namespace fuselage {

// Functions of a node's op. A fault of an op that a program or an extension registered is an
// ExtensionError.

/// The reference evaluation. Throws ExtensionError also if a registered op changes the number or
/// the size of results.
void evaluate_op(EvalContext<float>& context);
void evaluate_op(EvalContext<double>& context);

/// The row function with the node's attributes.
RowFunction bind_row_function(const Node& node);

/// Work of one node; nothing where the op states none.
Cost cost_of_op(const Graph& graph, const Node& node);

}  // namespace fuselage
