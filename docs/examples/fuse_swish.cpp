#include "passes/rewrite/pass.h"

namespace fuselage {

/// x sigmoid(x) is swish(x).
Pass fuse_swish() {
  const auto build = [](Rewriter& rewriter, const Match& match) {
    rewriter.replace(match.result(), rewriter.add("swish", {match["x"]}));
  };
  return {.name = "fuse_swish",
          .rules = {{.name = "swish",
                     .pattern = match::op("mul", {match::any("x"),
                                                  match::op("sigmoid", {match::any("x")})})
                                    .commutative(),
                     .guards = {same_rows(), same_type("x")},
                     .build = build}}};
}

}  // namespace fuselage
