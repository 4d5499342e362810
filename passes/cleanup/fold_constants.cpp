#include "passes/cleanup/fold_constants.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "fuselage/ops/evaluate.h"
#include "fuselage/ops/structure/leaf.h"
#include "ops/call_op.h"

namespace fuselage {
namespace {

/// The text form lists every number of a constant, so large results are not folded.
constexpr std::int64_t kMaxElements = 4096;

bool has_constant_operands(const Graph& graph, const Node& node) {
  if (node.operands.empty() || node.results.size() != 1 || !node.op->evaluate_f32) return false;
  const Type& type = graph.value(node.results[0]).type;
  return type.domain == graph.none() && type.dtype == DType::f32 &&
         std::all_of(node.operands.begin(), node.operands.end(),
                     [&graph](ValueId operand) { return is_constant(graph.producer(operand)); });
}

Array<float> evaluate(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const RowTable rows(graph);
  std::vector<Array<float>> operands;
  for (const ValueId operand : node.operands)
    operands.push_back(evaluate(graph, graph.value(operand).producer));
  EvalContext<float> context{.graph = graph, .node = node, .rows = rows};
  for (const Array<float>& operand : operands) context.operands.push_back(&operand);
  context.results.emplace_back(1, row_size(graph.value(node.results[0]).type));
  evaluate_op(context);
  return std::move(context.results[0]);
}

std::optional<std::string> too_large(const Match& match) {
  const Graph& graph = match.graph();
  std::int64_t largest = row_size(match.result_type());
  for (const ValueId operand : match.root_node().operands)
    largest = std::max(largest, row_size(graph.value(operand).type));
  if (largest <= kMaxElements) return std::nullopt;
  return fmt::format("it would compute with {} elements; the limit is {}", largest, kMaxElements);
}

// NaN is not equal to itself, so equal graphs would differ.
std::optional<std::string> not_finite(const Match& match) {
  if (too_large(match)) return std::nullopt;
  for (const float value : evaluate(match.graph(), match.root()).data)
    if (!std::isfinite(value)) return fmt::format("its value is {}", value);
  return std::nullopt;
}

void fold(Rewriter& rewriter, const Match& match) {
  const Array<float> result = evaluate(match.graph(), match.root());
  std::vector<double> values(result.data.begin(), result.data.end());
  const auto bits = [](double value) { return std::bit_cast<std::uint64_t>(value); };
  if (std::all_of(values.begin(), values.end(),
                  [&](double value) { return bits(value) == bits(values[0]); }))
    values.resize(1);
  rewriter.replace(match.result(), rewriter.add(op::Constant{.values = std::move(values),
                                                             .dims = match.result_type().dims}));
}

}  // namespace

Pass fold_constants() {
  return {.name = "fold_constants",
          .rules = {{.name = "fold_constant",
                     .pattern = match::node(has_constant_operands),
                     .guards = {{"small", too_large}, {"finite", not_finite}},
                     .build = fold}}};
}

}  // namespace fuselage
