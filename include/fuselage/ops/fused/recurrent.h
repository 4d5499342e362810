#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tuple>

#include "fuselage/base/api.h"
#include "fuselage/graph/graph.h"

namespace FUSELAGE_API fuselage {

namespace op {

/// The states of a GRU or LSTM over the rows of each sentence, starting from zeros; operands x, w,
/// u, b, c. The gates are concatenated in the latter four. Cells as in cuDNN (cudnnRNNMode_t).
struct RecurrentLayer {
  static constexpr std::string_view kName = "recurrent_layer";
  std::string cell;  ///< "gru" or "lstm"
  DomainId over;     ///< the scan that gives the order of rows
  static constexpr auto attributes() {
    return std::tuple(required("cell", &RecurrentLayer::cell),
                      required("over", &RecurrentLayer::over));
  }
};

}  // namespace op

/// Whole recurrent layers over source positions.
std::span<const OpDef> recurrent_ops();

/// Cells that a recurrent_layer can have.
enum class RecurrentCell : std::uint8_t {
  gru,   ///< gates reset, update, candidate
  lstm,  ///< gates input, forget, candidate, output
};

/// The name of a cell in the attribute `cell`.
std::string_view to_string(RecurrentCell cell);

/// The cell of a recurrent_layer node.
RecurrentCell recurrent_cell(const Node& node);

/// Number of gates, vectors of the state's size that a cell computes from its input and state.
std::int64_t gate_count(RecurrentCell cell);

}  // namespace fuselage
