#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "graph/graph.h"

namespace fuselage {

/// Columns of a value, from `begin` on.
struct Columns {
  ValueId value;
  std::int64_t begin = 0;
  friend auto operator<=>(const Columns&, const Columns&) = default;
};

/// A sum of products: the coefficient of each product, whose factors stand in order.
using Polynomial = std::map<std::vector<Columns>, double>;

/// Writes values out as sums of products, so that one computation has one form however it is
/// spelled: sums, differences and products of elements are multiplied out; slices, concatenations
/// and selections along `via` are looked through. Factors are what else there is. Constants of
/// which all elements are one number are coefficients.
class Expansion {
 public:
  Expansion(const Graph& graph, MapId via) : graph_(graph), via_(via) {}

  /// `width` columns of a vector; nothing when the columns do not come from values of such a width,
  /// or the sum would be very long.
  std::optional<Polynomial> expand(Columns columns, std::int64_t width);

  /// Nodes that were looked at.
  const std::set<NodeId>& met() const { return met_; }

 private:
  std::optional<Polynomial> of_sum(const Node& node, Columns columns, std::int64_t width);
  std::optional<Polynomial> of_part(const Node& node, Columns columns, std::int64_t width);

  const Graph& graph_;
  MapId via_;
  std::set<NodeId> met_;
  int budget_ = 1000;  // values to look at; shared ones are met many times
};

}  // namespace fuselage
