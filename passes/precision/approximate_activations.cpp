#include "fuselage/passes/precision/approximate_activations.h"

#include <fmt/format.h>

#include "fuselage/ops/arithmetic/pointwise.h"

namespace fuselage {
namespace {

constexpr Capture kArgument{"x"};

/// Replaces Function by Approximation; results differ by at most `tolerance`.
template <OpStruct Function, OpStruct Approximation>
Rule approximate(double tolerance) {
  const auto build = [](Rewriter& rewriter, const Match& match) {
    rewriter.replace(match.result(), rewriter.add(Approximation{}, {match[kArgument]}));
  };
  return {.name = fmt::format("approximate_{}", Function::kName),
          .pattern = match::op<Function>({match::any(kArgument)}),
          .numerics = {NumericClass::approximates, tolerance, "values between its limits"},
          .build = build};
}

}  // namespace

Pass approximate_activations(Activations activations) {
  if (activations == Activations::table)
    return {.name = "approximate_activations",
            .rules = {approximate<op::Sigmoid, op::SigmoidTable>(4.9e-4),
                      approximate<op::Tanh, op::TanhTable>(9.8e-4)}};
  return {.name = "approximate_activations",
          .rules = {approximate<op::Sigmoid, op::SigmoidFast>(2.9e-5),
                    approximate<op::Tanh, op::TanhFast>(5.7e-5)}};
}

}  // namespace fuselage
