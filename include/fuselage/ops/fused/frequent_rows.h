#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <tuple>

#include "fuselage/base/api.h"
#include "fuselage/graph/attributes.h"

namespace FUSELAGE_API fuselage {

namespace op {

/// The first `count` rows of a vocabulary value, as a matrix.
struct LeadingRows {
  static constexpr std::string_view kName = "leading_rows";
  std::int64_t count = 0;
  static constexpr auto attributes() { return std::tuple(required("count", &LeadingRows::count)); }
};

/// The product select_rows(x, via) W, or Wᵀ; operand 2, a table, holds the products of x's leading
/// rows.
struct LookupMatmul {
  static constexpr std::string_view kName = "lookup_matmul";
  bool transposed = false;
  MapPath via;
  static constexpr auto attributes() {
    return std::tuple(defaulted("transposed", &LookupMatmul::transposed),
                      required("via", &LookupMatmul::via));
  }
};

}  // namespace op

/// Products of looked-up rows, with a precomputed table for the most frequent vocabulary entries.
std::span<const OpDef> frequent_row_ops();

/// The share of look-ups that the `count` most frequent of `size` vocabulary entries receive by
/// Zipf's law: the frequency of entry r is proportional to 1 / r.
double expected_hit_rate(std::int64_t count, std::int64_t size);

}  // namespace fuselage
