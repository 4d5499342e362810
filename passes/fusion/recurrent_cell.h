#pragma once

#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "fuselage/graph/graph.h"
#include "fuselage/ops/fused/recurrent.h"
#include "passes/fusion/polynomial.h"

namespace fuselage {

/// The input of a loop over source positions: `operands[0]` if `via` is empty, else
/// select_rows(operands) along `via`.
struct LoopInput {
  std::vector<ValueId> operands;
  MapPath via;
  friend bool operator==(const LoopInput&, const LoopInput&) = default;
  friend bool operator<(const LoopInput& a, const LoopInput& b) {
    return std::tie(a.operands, a.via) < std::tie(b.operands, b.via);
  }
};

/// A block of a product's matrix: the columns of one gate, the rows of one operand.
struct MatrixPart {
  ValueId matrix;
  bool transposed = false;
  std::int64_t first_row = 0, rows = 0;
  std::int64_t first_column = 0;
};

/// The weights of one gate; the parts of each list are summed.
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
  std::vector<NodeId> nexts;       ///< the `next` node of each state
  std::vector<GateWeights> gates;  ///< in the order of the op
  std::set<LoopInput> inputs;      ///< exactly one, if recurrent_layer can represent the layer
  std::set<NodeId> body;           ///< all visited nodes that depend on the states
};

/// The result of find_recurrent_cell: a layer, or the reason for its absence.
struct CellFinding {
  std::optional<PlainLayer> layer;
  std::string reason;
};

/// Checks whether `value`, the next value of a state, is computed by a plain GRU or LSTM cell.
/// Independent of the form of sums and of which gates are computed together.
CellFinding find_recurrent_cell(const Graph& graph, ValueId value);

/// The `next` node that reads `value`; invalid if there is none.
NodeId next_of(const Graph& graph, ValueId value);

}  // namespace fuselage
