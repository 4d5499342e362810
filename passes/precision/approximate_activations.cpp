#include "passes/precision/approximate_activations.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/suggest.h"

namespace fuselage {
namespace {

constexpr std::array<std::pair<Activations, std::string_view>, 3> kNames{
    {{Activations::exact, "exact"}, {Activations::fast, "fast"}, {Activations::table, "table"}}};

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
    return {
        .name = "approximate_activations",
        .rules = {approximate("sigmoid", "table", 4.9e-4), approximate("tanh", "table", 9.8e-4)}};
  return {.name = "approximate_activations",
          .rules = {approximate("sigmoid", "fast", 2.9e-5), approximate("tanh", "fast", 5.7e-5)}};
}

}  // namespace fuselage
