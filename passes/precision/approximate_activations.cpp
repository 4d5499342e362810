#include "fuselage/passes/precision/approximate_activations.h"

#include <fmt/format.h>

#include <array>

#include "base/suggest.h"
#include "fuselage/ops/pointwise.h"

namespace fuselage {
namespace {

constexpr Capture kX{"x"};

constexpr std::array<std::string_view, 3> kNames{"exact", "fast", "table"};
static_assert(kNames.size() == static_cast<std::size_t>(Activations::table) + 1);

/// Replaces Function by Approximation; results differ by at most `tolerance`.
template <OpStruct Function, OpStruct Approximation>
Rule approximate(double tolerance) {
  const auto build = [](Rewriter& rewriter, const Match& match) {
    rewriter.replace(match.result(), rewriter.add(Approximation{}, {match[kX]}));
  };
  return {.name = fmt::format("approximate_{}", Function::kName),
          .pattern = match::op<Function>({match::any(kX)}),
          .numerics = {NumericClass::approximates, tolerance, "values between its limits"},
          .build = build};
}

}  // namespace

std::span<const std::string_view> activations_names() { return kNames; }

std::string_view to_string(Activations activations) {
  return kNames[static_cast<std::size_t>(activations)];
}

Activations activations_from_string(std::string_view name) {
  return static_cast<Activations>(find_name("kind of activations", name, kNames));
}

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
