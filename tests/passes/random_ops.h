#pragma once

#include <map>
#include <random>
#include <string_view>
#include <vector>

#include "fuselage/graph/graph.h"

namespace fuselage {

/// Adds random nodes to a graph.
class RandomOps {
 protected:
  using Attrs = AttrList;

  explicit RandomOps(std::uint64_t seed) : random_(seed), graph_("random") {}

  // Row-wise ops of values of a domain.

  void grow(DomainId domain, int count);
  ValueId random_op(DomainId domain);
  ValueId unary(ValueId x);
  /// A function that needs its argument to be in some range.
  ValueId tame(ValueId x);
  ValueId binary(DomainId domain, ValueId x);
  /// A choice by a comparison. Its sides are far apart, since roundings may not decide it.
  ValueId choose(DomainId domain, ValueId x);
  ValueId reduce(ValueId x);
  ValueId reshape(ValueId x);
  /// An outer product with another value or a parameter, and a vector of its elements.
  ValueId product(DomainId domain, ValueId x);
  ValueId as_vector(ValueId x);
  ValueId matmul(ValueId x);
  ValueId rows_of_matrix(std::int64_t rows, std::int64_t cols);
  ValueId concat(DomainId domain, ValueId x);
  ValueId cut(ValueId x);
  ValueId norm(DomainId domain, ValueId x);
  ValueId head_dot(DomainId domain, ValueId x);
  ValueId rotary(DomainId domain, ValueId x);
  /// What gives x again.
  ValueId no_op(ValueId x);
  /// The same computation once more.
  ValueId again(ValueId x);

  // Values.

  ValueId add(std::string_view name, std::vector<ValueId> operands, const Attrs& attrs = {});
  /// A matrix of which the columns are stored as quantized vectors, or one that is stored in bf16.
  ValueId stored_in_few_bits(std::int64_t rows, std::int64_t cols);
  ValueId param(DomainId domain, std::int64_t rows, std::int64_t cols = 0,
                DType dtype = DType::f32);
  ValueId vector(double number, std::int64_t size);
  /// A vector, or sometimes a scalar in place of one of one element.
  ValueId constant(double number, std::int64_t size);
  /// x as it is, cut or repeated to a width.
  ValueId of_width(ValueId x, std::int64_t wanted);
  std::int64_t width(ValueId x) const;
  /// Lets later ops use a value; scalars would fit too few of them.
  void keep(DomainId domain, ValueId value);
  /// One of the values of a domain, often a late one.
  ValueId pick(DomainId domain);
  bool chance(std::uint64_t one_in);
  std::int64_t below(std::int64_t limit);

  std::mt19937_64 random_;
  Graph graph_;
  ValueId table_;  ///< a row of four for each word
  std::map<DomainId, std::vector<ValueId>> pools_;
  int params_ = 0;
};

}  // namespace fuselage
