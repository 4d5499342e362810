// Fused elementwise chains, products, normalizations, and sums with positions.

#include "fuselage/ops/fused/chains.h"

#include <fmt/format.h>

#include "fuselage/base/error.h"
#include "fuselage/ops/arithmetic/matmul.h"
#include "fuselage/ops/arithmetic/normalization.h"
#include "fuselage/ops/arithmetic/pointwise.h"
#include "fuselage/ops/decompose.h"
#include "fuselage/ops/structure/leaf.h"
#include "fuselage/ops/structure/positions.h"
#include "ops/fused/elementwise_expression.h"

namespace fuselage {
namespace {

using Argument = ElementwiseExpression::Argument;

/// Adds the steps of an expression over `operands`; returns its results.
std::vector<ValueId> add_steps(Decomposition& in, const ElementwiseExpression& expression,
                               const std::vector<ValueId>& operands) {
  std::vector<ValueId> steps;
  const auto value = [&](const Argument& argument) {
    if (argument.kind == Argument::Kind::step) return steps[argument.index];
    if (argument.kind == Argument::Kind::operand) return operands.at(argument.index);
    return in.add(op::Constant{.values = {argument.number}});
  };
  for (const ElementwiseExpression::Step& step : expression.steps) {
    std::vector<ValueId> arguments;
    for (const Argument& argument : step.arguments) arguments.push_back(value(argument));
    steps.push_back(in.add(*step.op, std::move(arguments), step.attrs));
  }
  std::vector<ValueId> results;
  for (const Argument& result : expression.results) results.push_back(steps[result.index]);
  return results;
}

/// Parses the expression attribute and checks that it reads `operands` operands.
ElementwiseExpression expression_of(const Decomposition& in, std::size_t operands) {
  const std::string text = in.as<op::Expression>().expression;
  ElementwiseExpression expression;
  try {
    expression = parse_expression(text);
  } catch (const Error& error) {
    in.fail(error.what());
  }
  if (operand_count(expression) != operands)
    in.fail(fmt::format("its expression is for {} operands, but there are {}",
                        operand_count(expression), operands));
  return expression;
}

std::vector<ValueId> decompose_pointwise(Decomposition& in) {
  return add_steps(in, expression_of(in, in.operands().size()), in.operands());
}

std::vector<ValueId> decompose_linear(Decomposition& in) {
  std::vector<ValueId> operands = in.operands();
  operands[1] =
      in.add(op::Matmul{.transposed = in.as<op::Linear>().transposed}, {operands[0], operands[1]});
  operands.erase(operands.begin());
  return add_steps(in, expression_of(in, operands.size()), operands);
}

template <typename Norm>
std::vector<ValueId> decompose_add_norm(Decomposition& in) {
  const ValueId sum = in.add(op::Add{}, {in.operands()[0], in.operands()[1]});
  std::vector<ValueId> operands(in.operands().begin() + 1, in.operands().end());
  operands[0] = sum;
  return {in.add(Norm{.epsilon = in.as<op::AddNorm>().epsilon}, std::move(operands)), sum};
}

std::vector<ValueId> decompose_add_sinusoid(Decomposition& in) {
  const Type& x = in.type(0);
  const ValueId position = in.add(op::Position{.domain = x.domain}, {});
  const ValueId signal = in.add(op::Sinusoid{.dim = row_size(x)}, {position});
  return {in.add(op::Add{}, {in.operands()[0], signal})};
}

}  // namespace

std::span<const OpDef> fused_ops() {
  static const OpDef ops[] = {
      define<op::Pointwise>(
          {.summary =
               "expression(x0, x1, …), a chain of elementwise ops; x0, x1, … are the operands.",
           .operands = {{"x", OperandSpec::Arity::repeated}},
           .traits = Trait::row_wise | Trait::elementwise,
           .infer = infer_decomposed,
           .cost = cost_decomposed,
           .evaluate_f32 = evaluate_decomposed,
           .evaluate_f64 = evaluate_decomposed,
           .decompose = decompose_pointwise}),
      define<op::Linear>(
          {.summary = "expression(x W, x1, x2, …), or with x Wᵀ if transposed: a product, which is "
                      "x0 in the expression, and elementwise ops on it and the further operands.",
           .operands = {{"x"}, {"w"}, {"more", OperandSpec::Arity::any_number}},
           .traits = Trait::row_wise,
           .infer = infer_decomposed,
           .cost = cost_decomposed,
           .evaluate_f32 = evaluate_decomposed,
           .evaluate_f64 = evaluate_decomposed,
           .decompose = decompose_linear}),
      define<op::AddLayerNorm>(
          {.summary = "s = a + b; results: layer_norm(s, gain, bias), and s.",
           .operands = {{"a"}, {"b"}, {"gain"}, {"bias", OperandSpec::Arity::optional}},
           .traits = Trait::row_wise,
           .infer = infer_decomposed,
           .cost = cost_decomposed,
           .evaluate_f32 = evaluate_decomposed,
           .evaluate_f64 = evaluate_decomposed,
           .decompose = decompose_add_norm<op::LayerNorm>}),
      define<op::AddRmsNorm>({.summary = "s = a + b; results: rms_norm(s, gain), and s.",
                              .operands = {{"a"}, {"b"}, {"gain"}},
                              .traits = Trait::row_wise,
                              .infer = infer_decomposed,
                              .cost = cost_decomposed,
                              .evaluate_f32 = evaluate_decomposed,
                              .evaluate_f64 = evaluate_decomposed,
                              .decompose = decompose_add_norm<op::RmsNorm>}),
      define<op::AddSinusoid>({.summary = "x + sinusoid(position of the row in its sentence).",
                               .operands = {{"x"}},
                               .infer = infer_decomposed,
                               .cost = cost_decomposed,
                               .evaluate_f32 = evaluate_decomposed,
                               .evaluate_f64 = evaluate_decomposed,
                               .decompose = decompose_add_sinusoid}),
  };
  return ops;
}

}  // namespace fuselage
