#include "passes/fusion/recurrent_cell.h"

#include <fmt/format.h>

#include <algorithm>

namespace fuselage {
namespace {

using Factors = std::vector<Columns>;

/// Thrown while a cell is looked for, with the reason why it is another.
struct OtherCell {
  std::string reason;
};

class CellFinder {
 public:
  CellFinder(const Graph& graph, NodeId next)
      : graph_(graph),
        scan_(graph.value(graph.node(next).operands[0]).type.domain),
        expansion_(graph, graph.map_of(scan_, MapKind::structural)) {
    add_state(next);
  }

  PlainLayer find() {
    const ValueId value = graph_.node(layer_.nexts[0]).operands[1];
    const Type& type = graph_.value(value).type;
    if (type.dims.size() != 1) throw OtherCell{"its state is no vector"};
    layer_.scan = scan_;
    layer_.size = type.dims[0];
    const Polynomial state = expand({value, 0});
    if (state.size() == 1)
      find_lstm(state);
    else
      find_gru(state);
    layer_.body.insert(expansion_.met().begin(), expansion_.met().end());
    return std::move(layer_);
  }

 private:
  // --- Cells ---

  /// h' = n - z n + z h, where n = tanh(W x + r (U h)).
  void find_gru(const Polynomial& state) {
    const Columns h{graph_.result(layer_.states[0]), 0};
    const auto alone = std::find_if(state.begin(), state.end(), [this](const auto& term) {
      return term.first.size() == 1 && is("tanh", term.first[0]);
    });
    const auto kept = std::find_if(state.begin(), state.end(), [&h](const auto& term) {
      return term.first.size() == 2 && std::count(term.first.begin(), term.first.end(), h) == 1;
    });
    if (alone == state.end() || kept == state.end()) throw other_state();
    const Columns candidate = alone->first[0];
    const Columns update = other_factor(kept->first, h);
    Factors left_out{candidate, update};
    std::sort(left_out.begin(), left_out.end());
    if (state != Polynomial{{{candidate}, 1}, {left_out, -1}, {kept->first, 1}})
      throw other_state();
    layer_.cell = RecurrentCell::gru;
    layer_.gates.resize(3);
    const Columns reset = find_candidate(candidate, layer_.gates[2]);
    find_gate(reset, layer_.gates[0], "sigmoid");
    find_gate(update, layer_.gates[1], "sigmoid");
  }

  /// h' = o tanh(c'), where c' = f c + i g and g is a tanh.
  void find_lstm(const Polynomial& state) {
    const Columns squashed = factor_of(state, "tanh");
    const Columns output = other_factor(state.begin()->first, squashed);
    const ValueId value = argument(squashed);
    const NodeId next = next_of(graph_, value);
    if (squashed.begin != 0 || !next.valid()) throw other_state();
    add_state(next);
    const Columns c{graph_.result(layer_.states[1]), 0};
    Columns forget, input, candidate;
    for (const auto& [factors, coefficient] : expand({value, 0})) {
      if (coefficient != 1 || factors.size() != 2) throw other_state();
      if (std::find(factors.begin(), factors.end(), c) != factors.end()) {
        forget = other_factor(factors, c);
      } else {
        candidate = factor_of({{factors, 1}}, "tanh");
        input = other_factor(factors, candidate);
      }
    }
    if (!forget.value.valid() || !input.value.valid()) throw other_state();
    layer_.cell = RecurrentCell::lstm;
    layer_.gates.resize(4);
    find_gate(input, layer_.gates[0], "sigmoid");
    find_gate(forget, layer_.gates[1], "sigmoid");
    find_gate(candidate, layer_.gates[2], "tanh");
    find_gate(output, layer_.gates[3], "sigmoid");
  }

  void add_state(NodeId next) {
    const NodeId state = graph_.value(graph_.node(next).operands[0]).producer;
    layer_.states.push_back(state);
    layer_.nexts.push_back(next);
    layer_.body.insert({state, next});
  }

  // --- Gates ---

  /// A gate is a function of a sum of an input's product, the state's and biases.
  void find_gate(Columns gate, GateWeights& weights, std::string_view function) {
    if (!is(function, gate)) throw other_state();
    for (const auto& [factors, coefficient] : expand({argument(gate), gate.begin})) {
      if (coefficient != 1 || factors.size() != 1) throw other_sum(gate);
      add_part(factors[0], weights, weights.input_bias);
    }
    expect_products(gate, weights);
  }

  /// The weights of a GRU's candidate; returns its reset gate, by which all is multiplied that the
  /// state gives, and nothing else.
  Columns find_candidate(Columns candidate, GateWeights& weights) {
    std::set<Columns> resets;
    GateWeights reset_part, other_part;
    for (const auto& [factors, coefficient] : expand({argument(candidate), candidate.begin})) {
      if (coefficient != 1 || factors.size() > 2) throw other_sum(candidate);
      if (factors.size() == 1) {
        add_part(factors[0], other_part, other_part.input_bias);
        continue;
      }
      const Columns reset = factor_of({{factors, 1}}, "sigmoid");
      resets.insert(reset);
      add_part(other_factor(factors, reset), reset_part, reset_part.state_bias);
    }
    if (resets.size() != 1 || !other_part.state.empty() || !reset_part.input.empty())
      throw OtherCell{fmt::format("{} is not reset as a GRU's candidate", describe(candidate))};
    weights = {other_part.input, reset_part.state, other_part.input_bias, reset_part.state_bias};
    expect_products(candidate, weights);
    return *resets.begin();
  }

  void add_part(Columns part, GateWeights& weights, std::vector<Columns>& biases) {
    if (graph_.binding(part.value) == BindingTime::load) return biases.push_back(part);
    const Node& product = graph_.producer(part.value);
    if (product.op->name != "matmul")
      throw OtherCell{fmt::format("{} is no part of a plain gate", describe(part))};
    std::int64_t row = 0;
    for (const ValueId operand : parts_side_by_side(product.operands[0])) {
      const std::int64_t rows = graph_.value(operand).type.dims[0];
      const bool of_state = operand == graph_.result(layer_.states[0]);
      if (!of_state) layer_.inputs.insert(input_of(operand));
      (of_state ? weights.state : weights.input)
          .push_back(
              {product.operands[1], product.attr<bool>("transposed"), row, rows, part.begin});
      row += rows;
    }
  }

  /// What a product multiplies, taken apart where the loop concatenates it.
  std::vector<ValueId> parts_side_by_side(ValueId value) {
    const Node& node = graph_.producer(value);
    if (node.op->name != "concat" || graph_.value(value).type.domain != scan_) return {value};
    layer_.body.insert(graph_.value(value).producer);
    std::vector<ValueId> parts;
    for (const ValueId operand : node.operands) {
      const std::vector<ValueId> inner = parts_side_by_side(operand);
      parts.insert(parts.end(), inner.begin(), inner.end());
    }
    return parts;
  }

  LoopInput input_of(ValueId value) const {
    const Type& type = graph_.value(value).type;
    const Node& node = graph_.producer(value);
    if (type.dtype == DType::f32 && type.domain == graph_.domain(scan_).of) return {{value}, {}};
    if (node.op->name == "select_rows" && type.dtype == DType::f32) {
      MapPath via = node.attr<MapPath>("via");
      if (via[0] == graph_.map_of(scan_, MapKind::structural)) {
        via.erase(via.begin());
        if (via.empty()) return {{node.operands[0]}, {}};
        return {node.operands, via};
      }
    }
    throw OtherCell{fmt::format("{} is neither the state nor floats known before the loop",
                                graph_.describe(graph_.value(value).producer))};
  }

  // --- Helpers ---

  Polynomial expand(Columns columns) {
    auto expanded = expansion_.expand(columns, layer_.size);
    if (!expanded) throw other_sum(columns);
    return std::move(*expanded);
  }

  bool is(std::string_view op, Columns columns) const {
    return graph_.producer(columns.value).op->name == op &&
           graph_.value(columns.value).type.domain == scan_;
  }

  ValueId argument(Columns columns) const { return graph_.producer(columns.value).operands[0]; }

  /// The one factor of the only term that is made by `op`.
  Columns factor_of(const Polynomial& term, std::string_view op) const {
    const auto& [factors, coefficient] = *term.begin();
    const auto made = [&](Columns factor) { return is(op, factor); };
    if (coefficient != 1 || factors.size() != 2 ||
        std::count_if(factors.begin(), factors.end(), made) != 1)
      throw other_state();
    return *std::find_if(factors.begin(), factors.end(), made);
  }

  static Columns other_factor(const Factors& two, Columns one) {
    return two[0] == one ? two[1] : two[0];
  }

  void expect_products(Columns gate, const GateWeights& weights) const {
    if (weights.input.empty() || weights.state.empty())
      throw OtherCell{fmt::format("{} has no product with the {}", describe(gate),
                                  weights.input.empty() ? "loop's input" : "state")};
  }

  std::string describe(Columns columns) const {
    return graph_.describe(graph_.value(columns.value).producer);
  }
  OtherCell other_state() const {
    return {fmt::format("{} is followed by no sum that a GRU or an LSTM has",
                        graph_.describe(layer_.states.front()))};
  }
  OtherCell other_sum(Columns columns) const {
    return {fmt::format("{} is no plain sum", describe(columns))};
  }

  const Graph& graph_;
  DomainId scan_;
  Expansion expansion_;
  PlainLayer layer_;
};

}  // namespace

NodeId next_of(const Graph& graph, ValueId value) {
  for (const Use& use : graph.value(value).uses)
    if (use.operand == 1 && graph.node(use.node).has(Trait::loop_next)) return use.node;
  return {};
}

CellFinding find_recurrent_cell(const Graph& graph, ValueId value) {
  try {
    return {CellFinder(graph, next_of(graph, value)).find(), ""};
  } catch (const OtherCell& other) {
    return {std::nullopt, other.reason};
  }
}

}  // namespace fuselage
