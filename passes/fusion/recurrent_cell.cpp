#include "passes/fusion/recurrent_cell.h"

#include <fmt/format.h>

#include <algorithm>

#include "fuselage/ops/arithmetic/matmul.h"
#include "fuselage/ops/arithmetic/pointwise.h"
#include "fuselage/ops/structure/rows.h"
#include "fuselage/ops/structure/shape.h"

namespace fuselage {
namespace {

using Factors = std::vector<Columns>;

/// Recognizes a cell from the next value of a state. Each step returns false with `reason_` set if
/// the cell differs.
class CellFinder {
 public:
  CellFinder(const Graph& graph, NodeId next)
      : graph_(graph),
        scan_(graph.value(graph.node(next).operands[0]).type.domain),
        expansion_(graph, graph.map_of(scan_, MapKind::structural)) {
    add_state(next);
  }

  CellFinding find() {
    if (!read()) return {std::nullopt, std::move(reason_)};
    layer_.body.insert(expansion_.met().begin(), expansion_.met().end());
    return {std::move(layer_), ""};
  }

 private:
  bool read() {
    const ValueId value = graph_.node(layer_.nexts[0]).operands[1];
    const Type& type = graph_.value(value).type;
    if (type.dims.size() != 1) return refuse("its state is no vector");
    layer_.scan = scan_;
    layer_.size = type.dims[0];
    Polynomial state;
    if (!expand({value, 0}, state)) return false;
    return state.size() == 1 ? read_lstm(state) : read_gru(state);
  }

  // --- Cells ---

  /// h' = n - z n + z h, where n = tanh(W x + r (U h)).
  bool read_gru(const Polynomial& state) {
    const Columns h{graph_.result(layer_.states[0]), 0};
    const auto alone = std::find_if(state.begin(), state.end(), [this](const auto& term) {
      return term.first.size() == 1 && is<op::Tanh>(term.first[0]);
    });
    const auto kept = std::find_if(state.begin(), state.end(), [&h](const auto& term) {
      return term.first.size() == 2 && std::count(term.first.begin(), term.first.end(), h) == 1;
    });
    if (alone == state.end() || kept == state.end()) return other_state();
    const Columns candidate = alone->first[0];
    const Columns update = other_factor(kept->first, h);
    Factors left_out{candidate, update};
    std::sort(left_out.begin(), left_out.end());
    if (state != Polynomial{{{candidate}, 1}, {left_out, -1}, {kept->first, 1}})
      return other_state();
    layer_.cell = RecurrentCell::gru;
    layer_.gates.resize(3);
    Columns reset;
    return read_candidate(candidate, layer_.gates[2], reset) &&
           read_gate<op::Sigmoid>(reset, layer_.gates[0]) &&
           read_gate<op::Sigmoid>(update, layer_.gates[1]);
  }

  /// h' = o tanh(c'), where c' = f c + i g and g is a tanh.
  bool read_lstm(const Polynomial& state) {
    const auto squashed = factor_by<op::Tanh>(*state.begin());
    if (!squashed) return other_state();
    const Columns output = other_factor(state.begin()->first, *squashed);
    const ValueId value = argument(*squashed);
    const NodeId next = next_of(graph_, value);
    if (squashed->begin != 0 || !next.valid()) return other_state();
    add_state(next);
    const Columns c{graph_.result(layer_.states[1]), 0};
    Polynomial cell;
    if (!expand({value, 0}, cell)) return false;
    Columns forget, input, candidate;
    for (const auto& term : cell) {
      const auto& [factors, coefficient] = term;
      if (coefficient != 1 || factors.size() != 2) return other_state();
      if (std::find(factors.begin(), factors.end(), c) != factors.end()) {
        forget = other_factor(factors, c);
      } else if (const auto made = factor_by<op::Tanh>(term)) {
        candidate = *made;
        input = other_factor(factors, candidate);
      } else {
        return other_state();
      }
    }
    if (!forget.value.valid() || !input.value.valid()) return other_state();
    layer_.cell = RecurrentCell::lstm;
    layer_.gates.resize(4);
    return read_gate<op::Sigmoid>(input, layer_.gates[0]) &&
           read_gate<op::Sigmoid>(forget, layer_.gates[1]) &&
           read_gate<op::Tanh>(candidate, layer_.gates[2]) &&
           read_gate<op::Sigmoid>(output, layer_.gates[3]);
  }

  void add_state(NodeId next) {
    const NodeId state = graph_.value(graph_.node(next).operands[0]).producer;
    layer_.states.push_back(state);
    layer_.nexts.push_back(next);
    layer_.body.insert({state, next});
  }

  // --- Gates ---

  /// A gate is Function of the sum of a product with the input, a product with the state, and
  /// biases.
  template <OpStruct Function>
  bool read_gate(Columns gate, GateWeights& weights) {
    if (!is<Function>(gate)) return other_state();
    Polynomial sum;
    if (!expand({argument(gate), gate.begin}, sum)) return false;
    for (const auto& [factors, coefficient] : sum) {
      if (coefficient != 1 || factors.size() != 1) return other_sum(gate);
      if (!add_part(factors[0], weights, weights.input_bias)) return false;
    }
    return has_products(gate, weights);
  }

  /// The weights of a GRU's candidate, and its reset gate, a factor of all terms with the state and
  /// of no other terms.
  bool read_candidate(Columns candidate, GateWeights& weights, Columns& reset_gate) {
    std::set<Columns> resets;
    GateWeights reset_part, other_part;
    Polynomial sum;
    if (!expand({argument(candidate), candidate.begin}, sum)) return false;
    for (const auto& term : sum) {
      const auto& [factors, coefficient] = term;
      if (coefficient != 1 || factors.size() > 2) return other_sum(candidate);
      if (factors.size() == 1) {
        if (!add_part(factors[0], other_part, other_part.input_bias)) return false;
        continue;
      }
      const auto reset = factor_by<op::Sigmoid>(term);
      if (!reset) return other_state();
      resets.insert(*reset);
      if (!add_part(other_factor(factors, *reset), reset_part, reset_part.state_bias)) return false;
    }
    if (resets.size() != 1 || !other_part.state.empty() || !reset_part.input.empty())
      return refuse(fmt::format("{} is not reset as a GRU's candidate", describe(candidate)));
    weights = {other_part.input, reset_part.state, other_part.input_bias, reset_part.state_bias};
    reset_gate = *resets.begin();
    return has_products(candidate, weights);
  }

  bool add_part(Columns part, GateWeights& weights, std::vector<Columns>& biases) {
    if (graph_.binding(part.value) == BindingTime::load) {
      biases.push_back(part);
      return true;
    }
    const Node& product = graph_.producer(part.value);
    if (!product.is<op::Matmul>())
      return refuse(fmt::format("{} is no part of a plain gate", describe(part)));
    const bool transposed = product.as<op::Matmul>().transposed;
    std::int64_t row = 0;
    for (const ValueId operand : parts_side_by_side(product.operands[0])) {
      const std::int64_t rows = graph_.value(operand).type.dims[0];
      const bool of_state = operand == graph_.result(layer_.states[0]);
      if (!of_state && !add_input(operand)) return false;
      (of_state ? weights.state : weights.input)
          .push_back({product.operands[1], transposed, row, rows, part.begin});
      row += rows;
    }
    return true;
  }

  /// The parts of a product's operand, if the loop concatenates it; else the operand itself.
  std::vector<ValueId> parts_side_by_side(ValueId value) {
    const Node& node = graph_.producer(value);
    if (!node.is<op::Concat>() || graph_.value(value).type.domain != scan_) return {value};
    layer_.body.insert(graph_.value(value).producer);
    std::vector<ValueId> parts;
    for (const ValueId operand : node.operands) {
      const std::vector<ValueId> inner = parts_side_by_side(operand);
      parts.insert(parts.end(), inner.begin(), inner.end());
    }
    return parts;
  }

  bool add_input(ValueId value) {
    const auto input = input_of(value);
    if (!input)
      return refuse(fmt::format("{} is neither the state nor floats known before the loop",
                                graph_.describe(graph_.value(value).producer)));
    layer_.inputs.insert(*input);
    return true;
  }

  std::optional<LoopInput> input_of(ValueId value) const {
    const Type& type = graph_.value(value).type;
    const Node& node = graph_.producer(value);
    if (type.dtype != DType::f32) return std::nullopt;
    if (type.domain == graph_.domain(scan_).of) return LoopInput{{value}, {}};
    if (!node.has(Trait::selects_rows)) return std::nullopt;
    MapPath via = node.as<op::Via>().via;
    if (via[0] != graph_.map_of(scan_, MapKind::structural)) return std::nullopt;
    via.erase(via.begin());
    if (via.empty()) return LoopInput{{node.operands[0]}, {}};
    return LoopInput{node.operands, via};
  }

  // --- Helpers ---

  bool expand(Columns columns, Polynomial& into) {
    auto expanded = expansion_.expand(columns, layer_.size);
    if (!expanded) return other_sum(columns);
    into = std::move(*expanded);
    return true;
  }

  template <OpStruct Op>
  bool is(Columns columns) const {
    return graph_.producer(columns.value).is<Op>() &&
           graph_.value(columns.value).type.domain == scan_;
  }

  ValueId argument(Columns columns) const { return graph_.producer(columns.value).operands[0]; }

  /// The only factor of a two-factor term that is a result of Op.
  template <OpStruct Op>
  std::optional<Columns> factor_by(const Polynomial::value_type& term) const {
    const auto& [factors, coefficient] = term;
    const auto made = [&](Columns factor) { return is<Op>(factor); };
    if (coefficient != 1 || factors.size() != 2 ||
        std::count_if(factors.begin(), factors.end(), made) != 1)
      return std::nullopt;
    return *std::find_if(factors.begin(), factors.end(), made);
  }

  static Columns other_factor(const Factors& two, Columns one) {
    return two[0] == one ? two[1] : two[0];
  }

  bool has_products(Columns gate, const GateWeights& weights) {
    if (!weights.input.empty() && !weights.state.empty()) return true;
    return refuse(fmt::format("{} has no product with the {}", describe(gate),
                              weights.input.empty() ? "loop's input" : "state"));
  }

  std::string describe(Columns columns) const {
    return graph_.describe(graph_.value(columns.value).producer);
  }

  bool refuse(std::string reason) {
    reason_ = std::move(reason);
    return false;
  }
  bool other_state() {
    return refuse(fmt::format("{} is followed by no sum that a GRU or an LSTM has",
                              graph_.describe(layer_.states.front())));
  }
  bool other_sum(Columns columns) {
    return refuse(fmt::format("{} is no plain sum", describe(columns)));
  }

  const Graph& graph_;
  DomainId scan_;
  Expansion expansion_;
  PlainLayer layer_;
  std::string reason_;
};

}  // namespace

NodeId next_of(const Graph& graph, ValueId value) {
  for (const Use& use : graph.value(value).uses)
    if (use.operand == 1 && graph.node(use.node).has(Trait::loop_next)) return use.node;
  return {};
}

CellFinding find_recurrent_cell(const Graph& graph, ValueId value) {
  return CellFinder(graph, next_of(graph, value)).find();
}

}  // namespace fuselage
