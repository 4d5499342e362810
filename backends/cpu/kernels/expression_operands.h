#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "fuselage/backends/plan/plan.h"
#include "ops/fused/elementwise_expression.h"

namespace fuselage::cpu {

// Expressions of nodes, and their operands.

ElementwiseExpression expression_of(const Node& node);

/// The reason why a node's expression cannot run; operand `matrix` is not part of the expression.
std::string refuse_expression(const Graph& graph, const Node& node, std::size_t matrix);

/// Whether each operand of a node has one element a row, from operand `first` on.
std::vector<bool> scalar_operands(const PlannedInstruction& in, std::size_t first);

}  // namespace fuselage::cpu
