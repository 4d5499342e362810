// Whole recurrent layers over source positions. Cells as in cuDNN's API (cudnnRNNMode_t, CUDNN_GRU
// and CUDNN_LSTM), with the gates concatenated in its order.

#include "fuselage/ops/fused/recurrent.h"

#include <fmt/format.h>

#include <optional>

#include "fuselage/base/error.h"
#include "fuselage/ops/infer.h"
#include "ops/arithmetic/sigmoid.h"
#include "ops/eigen_view.h"

namespace fuselage {
namespace {

// Operand numbers.
constexpr std::size_t kX = 0;
constexpr std::size_t kW = 1;
constexpr std::size_t kU = 2;
constexpr std::size_t kB = 3;
constexpr std::size_t kC = 4;

std::optional<RecurrentCell> find_cell(std::string_view name) {
  for (const RecurrentCell cell : {RecurrentCell::gru, RecurrentCell::lstm})
    if (name == to_string(cell)) return cell;
  return std::nullopt;
}

/// Throws unless operand i is a matrix of f32 without rows; returns its dimensions.
std::pair<std::int64_t, std::int64_t> expect_matrix(const InferContext& in, std::size_t i) {
  expect_f32(in, i);
  const Type& type = in.operand(i);
  if (type.domain != in.none() || type.dims.size() != 2)
    in.fail(fmt::format("operand {} must be a matrix without rows, not {}", i, in.show(type)));
  return {type.dims[0], type.dims[1]};
}

/// Size of the state; checks that `u` has `gates` times as many columns as rows.
std::int64_t state_size(const InferContext& in, std::int64_t gates) {
  const auto [size, columns] = expect_matrix(in, kU);
  if (columns != gates * size)
    in.fail(fmt::format("operand {}, {}, must have {} columns, {} gates of the state's {}", kU,
                        in.show(in.operand(kU)), gates * size, gates, size));
  return size;
}

std::vector<Type> infer_layer(const InferContext& in) {
  const auto layer = in.as<op::RecurrentLayer>();
  const auto cell = find_cell(layer.cell);
  if (!cell) in.fail(fmt::format("its cell must be 'gru' or 'lstm', not '{}'", layer.cell));
  const Domain& scan = in.graph().domain(layer.over);
  if (scan.kind != DomainKind::scan)
    in.fail(fmt::format("it runs over a scan, but '{}' is a {} domain", scan.name,
                        to_string(scan.kind)));
  const std::int64_t width = expect_vector(in, kX);
  if (in.operand(kX).domain != scan.of)
    in.fail(fmt::format("'{}' runs over rows of '{}', but the input is {}", scan.name,
                        in.graph().domain(scan.of).name, in.show(in.operand(kX))));
  const std::int64_t gates = gate_count(*cell);
  const std::int64_t size = state_size(in, gates);
  const auto [rows, columns] = expect_matrix(in, kW);
  if (rows != width || columns != gates * size)
    in.fail(
        fmt::format("operand {} must be f32[{}, {}], for the input {} and the state's {}, not "
                    "{}",
                    kW, width, gates * size, in.show(in.operand(kX)), in.show(in.operand(kU)),
                    in.show(in.operand(kW))));
  expect_gain(in, kB, gates * size);
  expect_gain(in, kC, gates * size);
  return {{DType::f32, scan.of, {size}}};
}

Cost cost_layer(const InferContext& in) {
  const auto width = static_cast<double>(in.operand(kW).dims[0]);
  const auto size = static_cast<double>(in.operand(kU).dims[0]);
  const auto columns = static_cast<double>(in.operand(kU).dims[1]);
  return {.flop = (2 * (width + size) + 4) * columns,
          .bytes = 4 * (width + size),
          .weight_bytes = 4 * (width + size + 2) * columns};
}

template <typename T>
RowArray<T> sigmoids(const RowArray<T>& x) {
  return x.unaryExpr([](T v) { return sigmoid(v); });
}

template <typename T>
RowArray<T> tanhs(const RowArray<T>& x) {
  return x.unaryExpr([](T v) { return std::tanh(v); });
}

/// Advances a GRU's state `h` by one row: `a` are the input's contributions to the gates, `v` the
/// state's.
template <typename T>
void advance_gru(const RowArray<T>& a, const RowArray<T>& v, RowArray<T>& h) {
  const Eigen::Index n = h.size();
  const RowArray<T> reset = sigmoids<T>(a.head(n) + v.head(n));
  const RowArray<T> update = sigmoids<T>(a.segment(n, n) + v.segment(n, n));
  const RowArray<T> candidate = tanhs<T>(a.tail(n) + reset * v.tail(n));
  h = (1 - update) * candidate + update * h;
}

/// The same for an LSTM, with the cell state as a second part.
template <typename T>
void advance_lstm(const RowArray<T>& a, const RowArray<T>& v, RowArray<T>& h, RowArray<T>& cell) {
  const Eigen::Index n = h.size();
  const RowArray<T> gates = a + v;
  const RowArray<T> input = sigmoids<T>(gates.head(n));
  const RowArray<T> forget = sigmoids<T>(gates.segment(n, n));
  const RowArray<T> candidate = tanhs<T>(gates.segment(2 * n, n));
  cell = forget * cell + input * candidate;
  h = sigmoids<T>(gates.tail(n)) * tanhs<T>(cell);
}

/// An operand as a matrix; an array stores a value without rows in one row.
template <typename T>
ConstMatrixView<T> matrix_view(const EvalContext<T>& context, std::size_t operand) {
  const Dims& dims = context.operand_type(operand).dims;
  return {context.operands[operand]->data.data(), dims[0], dims[1]};
}

template <typename T>
void evaluate_layer(EvalContext<T>& context) {
  const Graph& graph = context.graph;
  const Domain& scan = graph.domain(context.node.template as<op::RecurrentLayer>().over);
  const auto begin = context.rows.segments(graph.map_of(scan.of, MapKind::structural));
  const RecurrentCell kind = recurrent_cell(context.node);
  const auto x = view(*context.operands[kX]);
  const auto w = matrix_view(context, kW);
  const auto u = matrix_view(context, kU);
  const auto b = row_view(context, kB, 0);
  const auto c = row_view(context, kC, 0);
  for (std::size_t s = 0; s + 1 < begin.size(); ++s) {
    RowArray<T> h = RowArray<T>::Zero(u.rows());
    RowArray<T> cell = h;
    for (std::int32_t t = begin[s]; t < begin[s + 1]; ++t) {
      const std::int32_t row = scan.reversed ? begin[s] + begin[s + 1] - 1 - t : t;
      const RowArray<T> from_input = (x.row(row) * w).array() + b;
      const RowArray<T> from_state = (h.matrix() * u).array() + c;
      if (kind == RecurrentCell::gru)
        advance_gru<T>(from_input, from_state, h);
      else
        advance_lstm<T>(from_input, from_state, h, cell);
      row_view(context.results[0], row) = h;
    }
  }
}

}  // namespace

std::string_view to_string(RecurrentCell cell) {
  return cell == RecurrentCell::gru ? "gru" : "lstm";
}

RecurrentCell recurrent_cell(const Node& node) {
  const auto cell = find_cell(node.as<op::RecurrentLayer>().cell);
  check(cell.has_value(), "a recurrent layer with an unknown cell");
  return *cell;
}

std::int64_t gate_count(RecurrentCell cell) { return cell == RecurrentCell::gru ? 3 : 4; }

std::span<const OpDef> recurrent_ops() {
  static const OpDef ops[] = {
      define<op::RecurrentLayer>(
          {.summary = "h(t) = cell(x(t) W + b, h(t - 1) U + c) over the rows of each sentence, h = "
                      "0 before the first; `cell` is gru or lstm.",
           .operands = {{"x"}, {"w"}, {"u"}, {"b"}, {"c"}},
           .infer = infer_layer,
           .cost = cost_layer,
           .evaluate_f32 = evaluate_layer<float>,
           .evaluate_f64 = evaluate_layer<double>}),
  };
  return ops;
}

}  // namespace fuselage
