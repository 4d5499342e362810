#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fuselage/graph/graph.h"
#include "ops/fused/elementwise_expression.h"

namespace fuselage {

/// Whether a node computes element i of its results only from elements i of its operands, so that
/// an expression can represent it. False for nodes that quantize results, since they read whole
/// vectors.
bool is_elementwise(const Graph& graph, const Node& node);

/// The reason why an elementwise node cannot be part of a fused chain; nullopt: it can. Its op
/// needs a row function: without one the whole chain would run on the reference evaluation.
std::optional<std::string> refuse_in_chain(const Graph& graph, const Node& node);

/// An expression and its operand values: operand i of the expression is operands[i].
struct BoundExpression {
  ElementwiseExpression expression;
  std::vector<ValueId> operands;
};

/// The expression of an elementwise node: its own, or its op as the only step. If the node has
/// rows, constants without dimensions become numbers of the expression.
BoundExpression bind_expression(const Graph& graph, const Node& node);

/// Inlines the elementwise node `inner` into `outer`. The results `kept` of `inner` become results
/// of the whole, after the results of `outer`.
BoundExpression inline_expression(const Graph& graph, const BoundExpression& outer,
                                  const Node& inner, const std::vector<ValueId>& kept);

/// The reason why two elementwise nodes would be too long as one; nullopt: they would not.
std::optional<std::string> refuse_length(const Graph& graph, const Node& a, const Node& b);

/// The expression of two elementwise nodes side by side: the results of `a`, then those of `b`.
BoundExpression join_expressions(const Graph& graph, const Node& a, const Node& b);

/// Reorders the operands so that `value`, one of them, is operand 0.
BoundExpression with_first_operand(const BoundExpression& bound, ValueId value);

}  // namespace fuselage
