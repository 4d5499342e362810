#include "passes/fusion/elementwise.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "fuselage/base/error.h"
#include "fuselage/ops/fused/chains.h"
#include "fuselage/ops/precision/quantize.h"
#include "fuselage/ops/structure/leaf.h"
#include "fuselage/passes/rewrite/pattern.h"

namespace fuselage {
namespace {

using Argument = ElementwiseExpression::Argument;
using Kind = Argument::Kind;

/// Maximum steps of one node: more than any cell has, and still readable.
constexpr std::size_t kMaxSteps = 128;

/// The number of a constant without dimensions, if an expression can contain it.
std::optional<double> number_of(const Graph& graph, ValueId value) {
  const Node& node = graph.producer(value);
  if (!is_constant(node) || !graph.value(value).type.dims.empty()) return std::nullopt;
  const double number = node.as<op::Constant>().values.front();
  if (!std::isfinite(number)) return std::nullopt;
  return number;
}

std::uint32_t operand_index(BoundExpression& bound, ValueId value) {
  const auto found = std::find(bound.operands.begin(), bound.operands.end(), value);
  const auto index = static_cast<std::uint32_t>(found - bound.operands.begin());
  if (found == bound.operands.end()) bound.operands.push_back(value);
  return index;
}

/// Appends `part` to `whole`, replacing some of its operands by `replaced`; returns the results.
template <typename Replace>
std::vector<Argument> append(BoundExpression& whole, const BoundExpression& part, Replace replace) {
  const auto first = static_cast<std::uint32_t>(whole.expression.steps.size());
  const auto moved = [&](Argument argument) {
    if (argument.kind == Kind::step) argument.index += first;
    if (argument.kind != Kind::operand) return argument;
    const ValueId value = part.operands[argument.index];
    if (const std::optional<Argument> other = replace(value)) return *other;
    argument.index = operand_index(whole, value);
    return argument;
  };
  for (ElementwiseExpression::Step step : part.expression.steps) {
    for (Argument& argument : step.arguments) argument = moved(argument);
    whole.expression.steps.push_back(std::move(step));
  }
  std::vector<Argument> results;
  for (const Argument& result : part.expression.results) results.push_back(moved(result));
  return results;
}

/// Removes unused steps and orders operands by their first use in the text.
BoundExpression in_normal_form(const BoundExpression& bound) {
  BoundExpression normal{.expression = parse_expression(print_expression(bound.expression))};
  for (ElementwiseExpression::Step& step : normal.expression.steps)
    for (Argument& argument : step.arguments)
      if (argument.kind == Kind::operand)
        argument.index = operand_index(normal, bound.operands[argument.index]);
  return normal;
}

}  // namespace

bool is_elementwise(const Graph&, const Node& node) {
  return node.has(Trait::elementwise) && quantized_results(node).empty();
}

std::optional<std::string> refuse_in_chain(const Graph& graph, const Node& node) {
  if (node.has<op::Expression>()) return std::nullopt;
  if (!node.op->row)
    return fmt::format(
        "{} has no row function, so the fused node would run on the reference evaluation",
        graph.describe(node));
  if (const auto reason = refuse_step(*node.op))
    return fmt::format("{}: {}", graph.describe(node), *reason);
  return std::nullopt;
}

BoundExpression bind_expression(const Graph& graph, const Node& node) {
  check(is_elementwise(graph, node), "an expression of a node that is not elementwise");
  BoundExpression plain{.operands = node.operands};
  if (node.has<op::Expression>()) {
    plain.expression = parse_expression(node.as<op::Expression>().expression);
  } else {
    ElementwiseExpression::Step step{.op = node.op, .arguments = {}, .attrs = node.attrs};
    for (std::uint32_t i = 0; i < node.operands.size(); ++i) step.arguments.push_back({.index = i});
    plain.expression.steps.push_back(std::move(step));
    plain.expression.results.push_back({.kind = Kind::step, .index = 0});
  }
  // A value without rows may depend only on constants, but a node needs an operand.
  const bool has_rows = graph.value(node.results[0]).type.domain != graph.none();
  BoundExpression bound;
  bound.expression.results = append(bound, plain, [&](ValueId value) -> std::optional<Argument> {
    if (const auto number = has_rows ? number_of(graph, value) : std::nullopt)
      return Argument{.kind = Kind::number, .number = *number};
    return std::nullopt;
  });
  return in_normal_form(bound);
}

BoundExpression inline_expression(const Graph& graph, const BoundExpression& outer,
                                  const Node& inner, const std::vector<ValueId>& kept) {
  BoundExpression whole;
  const std::vector<Argument> inlined = append(whole, bind_expression(graph, inner),
                                               [](ValueId) { return std::optional<Argument>(); });
  const auto inlined_result = [&](ValueId value) -> std::optional<Argument> {
    const auto found = std::find(inner.results.begin(), inner.results.end(), value);
    if (found == inner.results.end()) return std::nullopt;
    return inlined[static_cast<std::size_t>(found - inner.results.begin())];
  };
  whole.expression.results = append(whole, outer, inlined_result);
  for (const ValueId value : kept)
    whole.expression.results.push_back(inlined_result(value).value());
  return in_normal_form(whole);
}

std::optional<std::string> refuse_length(const Graph& graph, const Node& a, const Node& b) {
  // Nodes that cannot be in a chain may have no expression.
  if (refuse_in_chain(graph, a) || refuse_in_chain(graph, b)) return std::nullopt;
  const std::size_t steps = bind_expression(graph, a).expression.steps.size() +
                            bind_expression(graph, b).expression.steps.size();
  if (steps <= kMaxSteps) return std::nullopt;
  return fmt::format("one node would have {} steps, more than {}", steps, kMaxSteps);
}

BoundExpression join_expressions(const Graph& graph, const Node& a, const Node& b) {
  BoundExpression joined;
  for (const Node* node : {&a, &b}) {
    const std::vector<Argument> results = append(joined, bind_expression(graph, *node),
                                                 [](ValueId) { return std::optional<Argument>(); });
    joined.expression.results.insert(joined.expression.results.end(), results.begin(),
                                     results.end());
  }
  return in_normal_form(joined);
}

BoundExpression with_first_operand(const BoundExpression& bound, ValueId value) {
  BoundExpression moved{.expression = bound.expression, .operands = {value}};
  for (ElementwiseExpression::Step& step : moved.expression.steps)
    for (Argument& argument : step.arguments)
      if (argument.kind == Kind::operand)
        argument.index = operand_index(moved, bound.operands[argument.index]);
  return moved;
}

}  // namespace fuselage
