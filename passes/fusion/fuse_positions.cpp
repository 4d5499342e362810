#include "passes/fusion/fuse_positions.h"

#include <fmt/format.h>

#include "fuselage/ops/arithmetic/pointwise.h"
#include "fuselage/ops/fused/chains.h"
#include "fuselage/ops/structure/positions.h"

namespace fuselage {
namespace {

constexpr Capture kSummand{"x"}, kSignal{"signal"};

std::optional<std::string> repeated_summand(const Match& match) {
  const Graph& graph = match.graph();
  const Type& signal = graph.value(match.node(kSignal).results[0]).type;
  if (match.type(kSummand) == signal) return std::nullopt;
  return fmt::format("{} is {}, not {}", graph.describe(graph.producer(match[kSummand])),
                     graph.show(match.type(kSummand)), graph.show(signal));
}

}  // namespace

Pass fuse_positions() {
  Pattern signal = match::op<op::Sinusoid>({match::op<op::Position>().shared()}).named(kSignal);
  return {
      .name = "fuse_positions",
      .rules = {
          {.name = "added_sinusoid",
           .pattern = match::op<op::Add>({match::any(kSummand), std::move(signal)}).commutative(),
           .guards = {{"same_rows", repeated_summand}},
           .build = [](Rewriter& rewriter, const Match& match) {
             rewriter.replace(match.result(), rewriter.add(op::AddSinusoid{}, {match[kSummand]}));
           }}}};
}

}  // namespace fuselage
