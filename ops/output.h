#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "graph/graph.h"

namespace fuselage {

/// Where the operands of a member of an ensemble_k_best node stand, and what its scores count for.
struct MemberOperands {
  double weight = 1;
  bool transposed = false;
  std::size_t x = 0;
  std::size_t w = 0;
  std::optional<std::size_t> bias;
};

/// The members of an ensemble_k_best node, by its attributes: each of the latter two lists has 0 or
/// 1 for each weight, or is empty for 0 throughout.
std::vector<MemberOperands> ensemble_members(const std::vector<double>& weights, const Dims& biased,
                                             const Dims& transposed);
std::vector<MemberOperands> ensemble_members(const Node& node);

}  // namespace fuselage
