#include "fuselage/ops/arithmetic/pointwise.h"
#include "fuselage/passes/rewrite/pass.h"

namespace fuselage {

constexpr Capture kX{"x"};

/// x sigmoid(x) is swish(x).
Pass fuse_swish() {
  const auto build = [](Rewriter& rewriter, const Match& match) {
    rewriter.replace(match.result(), rewriter.add(op::Swish{}, {match[kX]}));
  };
  return {.name = "fuse_swish",
          .rules = {{.name = "swish",
                     .pattern = match::op<op::Mul>(
                                    {match::any(kX), match::op<op::Sigmoid>({match::any(kX)})})
                                    .commutative(),
                     .build = build}}};
}

}  // namespace fuselage
