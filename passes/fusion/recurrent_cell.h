#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "ops/recurrent.h"
#include "passes/fusion/polynomial.h"

namespace fuselage {

/// What a loop over source positions reads of what there is at each position: `operands[0]` itself
/// when `via` is empty, else what select_rows(operands) gives along it.
struct LoopInput {
  std::vector<ValueId> operands;
  MapPath via;
  friend auto operator<=>(const LoopInput&, const LoopInput&) = default;
};

/// A part of the matrix of a product: the columns of a gate, the rows that multiply one operand.
struct MatrixPart {
  ValueId matrix;
  bool transposed = false;
  std::int64_t first_row = 0, rows = 0;
  std::int64_t first_column = 0;
};

/// Parts that are added up, of the weights of one gate.
struct GateWeights {
  std::vector<MatrixPart> input, state;
  std::vector<Columns> input_bias, state_bias;
};

/// A recurrent layer as plain nodes: a loop with the cell of a recurrent_layer.
struct PlainLayer {
  RecurrentCell cell = RecurrentCell::gru;
  std::int64_t size = 0;  ///< of the state
  DomainId scan;
  std::vector<NodeId> states;      ///< the state, and an LSTM's cell
  std::vector<NodeId> nexts;       ///< of each of them
  std::vector<GateWeights> gates;  ///< in the order of the op
  std::set<LoopInput> inputs;      ///< one, if the layer is an op's
  std::set<NodeId> body;           ///< all that was looked at, from the states on
};

/// What a value in a loop was found to be: a layer's state, or why it is none.
struct CellFinding {
  std::optional<PlainLayer> layer;
  std::string reason;
};

/// Looks whether `value`, the next value of a state, is that of a plain GRU or LSTM. How sums are
/// spelled, and which gates are computed together, does not matter.
CellFinding find_recurrent_cell(const Graph& graph, ValueId value);

/// The node that makes `value` the next value of a state; none if there is none.
NodeId next_of(const Graph& graph, ValueId value);

}  // namespace fuselage
