#include "models/architectures/cells.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "base/suggest.h"
#include "fuselage/base/error.h"

namespace fuselage {
namespace {

/// A cell with its parameters, and the equations of all types.
struct Cell {
  Parameters& p;
  const std::string& n;  ///< prefix of the parameters
  const CellOptions& o;
  std::int64_t size = o.size;

  Expr matrix(const char* name, Expr x, std::int64_t out) const {
    return dot(x, p.matrix(n + name, x.width(), out));
  }
  Expr vector(const char* name, std::int64_t width) const { return p.vector(n + name, width); }
  Expr joint_norm(Expr x, const char* gain, Expr bias = {}) const {
    return layer_norm(x, vector(gain, x.width()), bias, kRnnNormEpsilon);
  }

  // --- Gated recurrent units (Cho et al. 2014, section 2.3) ---

  struct Gates {
    Expr reset, update;
  };

  Gates split_gates(Expr gates) const {
    return {slice(gates, 0, size), slice(gates, size, 2 * size)};
  }

  /// s' = (1 - z) h + z s.
  static CellState interpolate(Expr z, Expr h, Expr s) { return {(1 - z) * h + z * s, {}}; }

  CellState plain_gru(Expr x, Expr s) const {
    const Expr b = vector("_b", 2 * size);
    const Expr bx = vector("_bx", size);
    Expr gates = matrix("_U", s, 2 * size);
    Expr candidate = matrix("_Ux", s, size);
    if (x.valid()) gates = matrix("_W", x, 2 * size) + gates;
    const auto [r, z] = split_gates(sigmoid(gates + b));
    candidate = o.bias_in_reset ? r * (candidate + bx) : r * candidate;
    if (x.valid()) candidate = matrix("_Wx", x, size) + candidate;
    return interpolate(z, tanh(o.bias_in_reset ? candidate : candidate + bx), s);
  }

  CellState joint_norm_gru(Expr x, Expr s) const {
    const Expr b = vector("_b", 2 * size);
    const Expr bx = vector("_bx", size);
    const Expr u =
        joint_norm(concat({matrix("_U", s, 2 * size), matrix("_Ux", s, size)}), "_gamma2");
    Expr gates = slice(u, 0, 2 * size);
    Expr candidate = slice(u, 2 * size, 3 * size);
    Expr a;
    if (x.valid()) {
      a = joint_norm(concat({matrix("_W", x, 2 * size), matrix("_Wx", x, size)}), "_gamma1");
      gates = slice(a, 0, 2 * size) + gates;
    }
    const auto [r, z] = split_gates(sigmoid(gates + b));
    candidate = o.bias_in_reset ? r * (candidate + bx) : r * candidate;
    if (x.valid()) candidate = slice(a, 2 * size, 3 * size) + candidate;
    return interpolate(z, tanh(o.bias_in_reset ? candidate : candidate + bx), s);
  }

  CellState nematus_norm_gru(Expr x, Expr s) const {
    const Expr b = vector("_b", 2 * size);
    const Expr bx = vector("_bx", size);
    const auto with_bias = [this](NematusBias place, Expr value, Expr bias) {
      return o.nematus_bias == place ? value + bias : value;
    };
    const auto side = [&](NematusBias place, Expr in, const char* name, Expr bias) {
      return nematus_norm(p, with_bias(place, matrix(name, in, bias.width()), bias), n + name);
    };
    Expr gates = with_bias(NematusBias::after_norm, side(NematusBias::state, s, "_U", b), b);
    if (x.valid()) gates = side(NematusBias::input, x, "_W", b) + gates;
    const auto [r, z] = split_gates(sigmoid(gates));
    Expr candidate = r * side(NematusBias::state, s, "_Ux", bx);
    candidate = with_bias(NematusBias::after_norm, candidate, bx);
    if (x.valid()) candidate = side(NematusBias::input, x, "_Wx", bx) + candidate;
    return interpolate(z, tanh(candidate), s);
  }

  CellState gru(Expr x, const CellState& s) const {
    return o.layer_normalization ? joint_norm_gru(x, s.output) : plain_gru(x, s.output);
  }

  CellState gru_nematus(Expr x, const CellState& s) const {
    return o.layer_normalization ? nematus_norm_gru(x, s.output) : plain_gru(x, s.output);
  }

  // --- Cells with one matrix for each side ---

  /// x W + s U + b, each product with its norm. Of more stored gains than numbers the first are
  /// used.
  Expr both_sides(Expr x, Expr s, std::int64_t width, std::int64_t gains) const {
    const auto side = [&](Expr in, const char* name, const char* gain) {
      const Expr product = matrix(name, in, width);
      if (!o.layer_normalization) return product;
      const Expr stored = vector(gain, gains);
      return layer_norm(product, gains == width ? stored : slice(stored, 0, width), {},
                        kRnnNormEpsilon);
    };
    Expr sum = side(s, "_U", "_gamma2");
    if (x.valid()) sum = side(x, "_W", "_gamma1") + sum;
    return sum + vector("_b", width);
  }

  /// Hochreiter and Schmidhuber 1997, with a forget gate (Gers et al. 2000). The blocks are forget
  /// gate, input gate, candidate, output gate.
  CellState lstm(Expr x, const CellState& s) const {
    const Expr all = both_sides(x, s.output, 4 * size, 4 * size);
    const auto block = [&](int i) { return slice(all, i * size, (i + 1) * size); };
    const Expr memory = sigmoid(block(0)) * s.memory + sigmoid(block(1)) * tanh(block(2));
    return {sigmoid(block(3)) * tanh(memory), memory};
  }

  CellState tanh_cell(Expr x, const CellState& s) const {
    return {tanh(both_sides(x, s.output, size, 3 * size)), {}};
  }

  CellState relu_cell(Expr x, const CellState& s) const {
    return {relu(both_sides(x, s.output, size, size)), {}};
  }

  // --- Multiplicative cells (Krause et al. 2016): the state is replaced by a product ---

  CellState multiplicative(Expr x, const CellState& s) const {
    const auto factor = [&](Expr in, const char* name, const char* bias, const char* gain) {
      const Expr sum = matrix(name, in, size) + vector(bias, size);
      return o.layer_normalization ? joint_norm(sum, gain) : sum;
    };
    return {factor(x, "_Wm", "_bwm", "_gamma1m") * factor(s.output, "_Um", "_bm", "_gamma2m"),
            s.memory};
  }

  CellState mlstm(Expr x, const CellState& s) const { return lstm(x, multiplicative(x, s)); }
  CellState mgru(Expr x, const CellState& s) const { return gru(x, multiplicative(x, s)); }

  // --- Simple recurrent units: no product with the state ---

  Expr gate(Expr x, const char* name, const char* bias, const char* gain) const {
    const Expr product = matrix(name, x, size);
    const Expr b = vector(bias, size);
    return sigmoid(o.layer_normalization ? joint_norm(product, gain, b) : product + b);
  }

  Expr simple_memory(Expr x, Expr memory) const {
    Expr candidate = matrix("_W", x, size);
    if (o.layer_normalization) candidate = joint_norm(candidate, "_gamma");
    const Expr f = gate(x, "_Wf", "_bf", "_gammaf");
    return f * memory + (1 - f) * candidate;
  }

  /// Lei et al. 2018.
  CellState sru(Expr x, const CellState& s) const {
    const Expr memory = simple_memory(x, s.memory);
    const Expr r = gate(x, "_Wr", "_br", "_gammar");
    return {r * tanh(memory) + (1 - r) * x, memory};
  }

  /// Kim et al. 2019.
  CellState ssru(Expr x, const CellState& s) const {
    const Expr memory = simple_memory(x, s.memory);
    return {relu(memory), memory};
  }
};

enum class Need { optional, needed, of_state_size };

struct CellType {
  std::string_view name;
  CellState (Cell::*step)(Expr x, const CellState& s) const;
  bool reads_output, reads_memory;
  Need input;
};

constexpr CellType kCellTypes[] = {
    {"gru", &Cell::gru, true, false, Need::optional},
    {"gru-nematus", &Cell::gru_nematus, true, false, Need::optional},
    {"lstm", &Cell::lstm, true, true, Need::optional},
    {"mlstm", &Cell::mlstm, true, true, Need::needed},
    {"mgru", &Cell::mgru, true, false, Need::needed},
    {"tanh", &Cell::tanh_cell, true, false, Need::optional},
    {"relu", &Cell::relu_cell, true, false, Need::optional},
    {"sru", &Cell::sru, false, true, Need::of_state_size},
    {"ssru", &Cell::ssru, false, true, Need::of_state_size},
};

const CellType& find_type(const std::string& name) {
  const auto* const found = std::find_if(std::begin(kCellTypes), std::end(kCellTypes),
                                         [&](const CellType& type) { return type.name == name; });
  if (found == std::end(kCellTypes))
    throw Error(fmt::format("there is no cell {}; a cell can be {}", in_quotes(name),
                            fmt::join(cell_types(), ", ")));
  return *found;
}

}  // namespace

std::vector<std::string_view> cell_types() {
  std::vector<std::string_view> names;
  for (const CellType& type : kCellTypes) names.push_back(type.name);
  return names;
}

CellState recurrent_cell(Parameters& p, const std::string& prefix, Expr x, const CellState& s,
                         const CellOptions& options) {
  const CellType& type = find_type(options.type);
  if (!x.valid() && type.input != Need::optional)
    throw Error(
        fmt::format("{}: a cell {} needs an input, but is a transition here; the depth of "
                    "the cells must be smaller",
                    prefix, options.type));
  if (type.input == Need::of_state_size && x.width() != options.size)
    throw Error(
        fmt::format("{}: a cell {} needs an input of the size of its state, {}, but it is "
                    "{}",
                    prefix, options.type, options.size, x.width()));
  const Builder::Scope scope(p.builder(), prefix);
  return (Cell{p, prefix, options}.*type.step)(x, s);
}

CarriedState::CarriedState(Builder& builder, const std::string& cell_type, Expr initial,
                           DomainId loop, const std::string& name)
    : builder_(builder), loop_(loop) {
  const CellType& type = find_type(cell_type);
  if (type.reads_output) parts_.output = builder.state(initial, loop).named(name + ".state");
  if (type.reads_memory)
    parts_.memory =
        builder.state(initial, loop).named(name + (type.reads_output ? ".memory" : ".state"));
}

CellState CarriedState::in(DomainId domain) const {
  const auto part = [&](Expr value) {
    return value.valid() && domain != loop_ ? broadcast(value, domain) : value;
  };
  return {part(parts_.output), part(parts_.memory)};
}

void CarriedState::next(const CellState& value) const {
  if (parts_.output.valid()) builder_.next(parts_.output, value.output);
  if (parts_.memory.valid()) builder_.next(parts_.memory, value.memory);
}

Expr additive_attention(Parameters& p, const std::string& name, Expr context, Expr query,
                        DomainId pairs, RnnNorm norm) {
  const Builder::Scope scope(p.builder(), name + "_attention");
  const std::int64_t size = context.width();
  Expr keys = dot(context, p.matrix(name + "_Wc_att", size, size));
  Expr q = dot(query, p.matrix(name + "_W_comb_att", query.width(), size));
  const Expr bias = p.vector(name + "_b_att", size);
  switch (norm) {
    case RnnNorm::none:
      keys = keys + bias;
      break;
    case RnnNorm::joint:
      keys = layer_norm(keys, p.vector(name + "_att_gamma1", size), bias, kRnnNormEpsilon);
      q = layer_norm(q, p.vector(name + "_att_gamma2", size), {}, kRnnNormEpsilon);
      break;
    case RnnNorm::nematus:
      keys = nematus_norm(p, keys + bias, name + "_Wc_att");
      q = nematus_norm(p, q, name + "_W_comb_att");
      break;
  }
  const Expr hidden = tanh(right(keys, pairs) + left(q, pairs));
  return softmax_over_right(dot(hidden, p.matrix(name + "_U_att", size, 1)));
}

Expr nematus_norm(Parameters& p, Expr x, const std::string& name) {
  return layer_norm(x, p.vector(name + "_lns", x.width()), p.vector(name + "_lnb", x.width()),
                    1e-5);
}

}  // namespace fuselage
