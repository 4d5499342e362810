#include "passes/precision/approximate_activations.h"

#include <fmt/format.h>

#include <array>

#include "base/suggest.h"

namespace fuselage {
namespace {

constexpr std::array<std::string_view, 3> kNames{"exact", "fast", "table"};
static_assert(kNames.size() == static_cast<std::size_t>(Activations::table) + 1);

Rule approximate(std::string_view function, std::string_view by, double tolerance) {
  const auto build = [op = fmt::format("{}_{}", function, by)](Rewriter& rewriter,
                                                               const Match& match) {
    rewriter.replace(match.result(), rewriter.add(op, {match["x"]}));
  };
  return {.name = fmt::format("approximate_{}", function),
          .pattern = match::op(function, {match::any("x")}),
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
    return {
        .name = "approximate_activations",
        .rules = {approximate("sigmoid", "table", 4.9e-4), approximate("tanh", "table", 9.8e-4)}};
  return {.name = "approximate_activations",
          .rules = {approximate("sigmoid", "fast", 2.9e-5), approximate("tanh", "fast", 5.7e-5)}};
}

}  // namespace fuselage
