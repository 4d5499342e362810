#include "passes/precision/widen_late.h"

#include <fmt/format.h>

#include <utility>

#include "fuselage/base/quantized.h"
#include "fuselage/ops/arithmetic/matmul.h"
#include "fuselage/ops/precision/quantize.h"
#include "passes/rewrite/widening.h"

namespace fuselage {
namespace {

constexpr Capture kFactor{"x"}, kHalves{"halves"}, kOfFactor{"product"};

std::optional<std::string> rounded_again(const Match& match) {
  const DType to = match.result_type().dtype;
  if (is_quantized(to)) return std::nullopt;
  return fmt::format("the numbers are rounded to {}", to_string(to));
}

std::optional<std::string> known_at_run_time(const Match& match) {
  if (match.graph().binding(match[kHalves]) == BindingTime::load) return std::nullopt;
  return fmt::format("{} is no weight", match.graph().show(match.type(kHalves)));
}

std::optional<std::string> rows_of_another_type(const Match& match) {
  if (match.type(kFactor).dtype == DType::f32) return std::nullopt;
  return fmt::format("its rows are {}", match.graph().show(match.type(kFactor)));
}

Rule widened_columns() {
  return {.name = "widened_columns",
          .pattern = match::op<op::Quantize>({match::widened(kHalves).shared()}),
          .guards = {{"integers", rounded_again}, {"weights", known_at_run_time}},
          .build = [](Rewriter& rewriter, const Match& match) {
            rewriter.replace(match.result(), rewriter.apply(match.root_node(), {match[kHalves]}));
          }};
}

Rule widened_products() {
  return {.name = "widened_products",
          .pattern = match::op<op::Matmul>({match::any(kFactor), match::widened(kHalves).shared()})
                         .named(kOfFactor),
          .guards = {{"rows_type", rows_of_another_type},
                     several_columns(kOfFactor, "so it is a dot product of floats")},
          .build = [](Rewriter& rewriter, const Match& match) {
            rewriter.replace(match.result(),
                             rewriter.apply(match.root_node(), {match[kFactor], match[kHalves]}));
          }};
}

}  // namespace

Pass widen_late(bool multiplies) {
  Pass pass{.name = "widen_late", .rules = {widened_columns()}};
  if (multiplies) pass.rules.push_back(widened_products());
  return pass;
}

}  // namespace fuselage
