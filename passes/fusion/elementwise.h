#pragma once

#include <cstdint>
#include <vector>

#include "graph/graph.h"
#include "ops/formula.h"

namespace fuselage {

/// Whether a node computes elements from those in their places alone, as a formula does. One that
/// quantizes its results sees whole vectors.
bool is_elementwise(const Graph& graph, const Node& node);

/// A formula with the values that it reads: operand i of the formula is operands[i].
struct BoundFormula {
  Formula formula;
  std::vector<ValueId> operands;
};

/// What an elementwise node computes: its own formula, or its op as the only step. Where it has
/// rows, constants without dimensions are written into the formula as numbers.
BoundFormula bind_formula(const Graph& graph, const Node& node);

/// `outer` with the results of the elementwise node `inner` written out in it; `kept`, some of
/// these results, become results of the whole, after those of `outer`.
BoundFormula inline_formula(const Graph& graph, const BoundFormula& outer, const Node& inner,
                            const std::vector<ValueId>& kept);

/// The same formula with `value`, one of its operands, as operand 0.
BoundFormula with_first_operand(const BoundFormula& bound, ValueId value);

}  // namespace fuselage
