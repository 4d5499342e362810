#pragma once

#include <cmath>
#include <cstdint>

#include "fuselage/ops/builder.h"

namespace fuselage {

/// The values that attention mixes for each query, and its weights [heads] of pairs.
struct Attended {
  Expr output, weights;
};

/// Attention of several heads (Vaswani et al. 2017, section 3.2): of queries and keys of pairs,
/// [heads × width], and of values of the right members, [heads × any width]. `bias`, [heads] of
/// pairs, is added to the scaled scores; it may be invalid: none.
inline Attended attend(Expr queries, Expr keys, Expr values, std::int64_t heads, double scale,
                       Expr bias = {}) {
  Expr scores = head_dot(queries, keys, heads, scale);
  if (bias.valid()) scores = scores + bias;
  const Expr weights = softmax_over_right(scores);
  return {mix(weights, values), weights};
}

/// The scale of scores of Vaswani et al. 2017, 1 / √width.
inline double scale_of_scores(std::int64_t width) {
  return 1 / std::sqrt(static_cast<double>(width));
}

}  // namespace fuselage
