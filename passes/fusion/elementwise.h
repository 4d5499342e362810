#pragma once

#include <cstdint>
#include <vector>

#include "graph/graph.h"
#include "ops/elementwise_expression.h"

namespace fuselage {

/// Whether a node computes elements from those in their places alone, as an expression does. One
/// that quantizes its results sees whole vectors.
bool is_elementwise(const Graph& graph, const Node& node);

/// An expression with the values that it reads: operand i of the expression is operands[i].
struct BoundExpression {
  ElementwiseExpression expression;
  std::vector<ValueId> operands;
};

/// What an elementwise node computes: its own expression, or its op as the only step. Where it has
/// rows, constants without dimensions are written into the expression as numbers.
BoundExpression bind_expression(const Graph& graph, const Node& node);

/// `outer` with the results of the elementwise node `inner` written out in it; `kept`, some of
/// these results, become results of the whole, after those of `outer`.
BoundExpression inline_expression(const Graph& graph, const BoundExpression& outer,
                                  const Node& inner, const std::vector<ValueId>& kept);

/// The same expression with `value`, one of its operands, as operand 0.
BoundExpression with_first_operand(const BoundExpression& bound, ValueId value);

}  // namespace fuselage
