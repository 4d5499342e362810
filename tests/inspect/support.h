#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fuselage/inspect/stages.h"
#include "fuselage/ops/arithmetic/pointwise.h"
#include "fuselage/passes/rewrite/rule.h"
#include "tests/passes/support.h"

namespace fuselage {

constexpr Capture kRight{"right"}, kLeft{"left"};

/// A step with a product, its bias and an activation, and a source program.
inline Graph small_model() {
  return graph_of(R"(%E = param() {name = "E", domain = words, dims = [4]}
%W = param() {name = "W", dims = [4, 4]}
%b = param() {name = "b", dims = [4]}
%x = select_rows(%E) {via = [src.word]}
%enc.mean = mean_rows(%x) {to = [src.sentence]}
%enc.copy = select_rows(%enc.mean) {via = [hyp.parent, parent.sentence]}
%dec.l1.product = matmul(%enc.copy, %W)
%dec.l1.sum = add(%dec.l1.product, %b)
%dec.l1.out = tanh(%dec.l1.sum)
%logits = add(%dec.l1.out, %dec.l1.sum)
return logits = %logits
)");
}

/// A sum written the other way round, where the second summand is no parameter; a rule that fires
/// once in small_model() and is refused once.
inline Rule swap_sum() {
  const Guard guard{"parameter_last", [](const Match& match) -> std::optional<std::string> {
                      if (match.node(kRight).operands.empty()) return std::nullopt;
                      return "the second summand is computed";
                    }};
  return {.name = "swap_sum",
          .pattern = match::op<op::Add>({match::any(kLeft), match::any(kRight)})
                         .where([](const Graph& graph, const Node& node) {
                           return !graph.producer(node.operands[0]).operands.empty();
                         }),
          .guards = {guard},
          .build = [](Rewriter& rewriter, const Match& match) {
            const ValueId left = match[kLeft];
            const ValueId right = match[kRight];
            const ValueId result = match.result();
            rewriter.replace(result, rewriter.add(op::Add{}, {right, left}));
          }};
}

/// The small model after a pass of that rule alone.
inline History swapped(Numerics numerics = {}) {
  Rule rule = swap_sum();
  rule.numerics = std::move(numerics);
  Optimizer optimizer;
  optimizer.passes.push_back({.name = "swap", .rules = {std::move(rule)}, .run = nullptr});
  return trace(small_model(), std::move(optimizer));
}

}  // namespace fuselage
