#pragma once

#include <cstdint>
#include <string_view>

#include "graph/graph.h"

namespace fuselage {

/// Cells that a recurrent_layer can have.
enum class RecurrentCell : std::uint8_t {
  gru,   ///< gates reset, update, candidate
  lstm,  ///< gates input, forget, candidate, output
};

/// Its name in the attribute `cell`.
std::string_view to_string(RecurrentCell cell);

/// The cell of a recurrent_layer node.
RecurrentCell recurrent_cell(const Node& node);

/// Number of vectors, each as long as the state, that a cell computes from its input and its state.
std::int64_t gate_count(RecurrentCell cell);

}  // namespace fuselage
