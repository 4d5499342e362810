#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "fuselage/graph/graph.h"

namespace fuselage {

/// Columns of a value, starting at `begin`.
struct Columns {
  ValueId value;
  std::int64_t begin = 0;
  friend auto operator<=>(const Columns&, const Columns&) = default;
};

/// A sum of products: maps each product, a sorted list of factors, to its coefficient.
using Polynomial = std::map<std::vector<Columns>, double>;

/// Expands values into sums of products, a normal form of equivalent computations. Elementwise
/// sums, differences and products are multiplied out; slices, concatenations and selections along
/// `via` are transparent; uniform constants are coefficients. All other values are factors.
class Expansion {
 public:
  Expansion(const Graph& graph, MapId via) : graph_(graph), via_(via) {}

  /// Expands `width` columns of a vector. Returns nullopt if the columns do not come from values of
  /// that width, or if the sum is too long.
  std::optional<Polynomial> expand(Columns columns, std::int64_t width);

  /// Nodes visited by expand().
  const std::set<NodeId>& met() const { return met_; }

 private:
  std::optional<Polynomial> of_sum(const Node& node, Columns columns, std::int64_t width);
  std::optional<Polynomial> of_part(const Node& node, Columns columns, std::int64_t width);

  const Graph& graph_;
  MapId via_;
  std::set<NodeId> met_;
  int budget_ = 1000;  // maximum visits; shared values are visited repeatedly
};

}  // namespace fuselage
