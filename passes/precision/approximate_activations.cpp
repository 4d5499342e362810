#include "passes/precision/approximate_activations.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/suggest.h"
#include "ops/pointwise.h"

namespace fuselage {
namespace {

constexpr Capture kX{"x"};

constexpr std::array<std::pair<Activations, std::string_view>, 3> kNames{
    {{Activations::exact, "exact"}, {Activations::fast, "fast"}, {Activations::table, "table"}}};

/// Puts Approximation in the place of Function; results differ by no more than `tolerance`.
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

Activations activations_from_string(std::string_view name) {
  std::vector<std::string_view> known;
  for (const auto& [activations, known_name] : kNames) {
    if (known_name == name) return activations;
    known.push_back(known_name);
  }
  throw Error("there are no activations {}; they can be {}", in_quotes(name),
              fmt::join(known, ", "));
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
