#pragma once

#include <span>
#include <string_view>

#include "fuselage/base/api.h"
#include "fuselage/graph/attributes.h"

namespace FUSELAGE_API fuselage {

namespace op {

// Reductions over the last dimension of a row: f32[n] becomes f32[1], f32[h, n] becomes f32[h].

struct ReduceSum {
  static constexpr std::string_view kName = "reduce_sum";
};

/// NaN if an element is NaN.
struct ReduceMax {
  static constexpr std::string_view kName = "reduce_max";
};

struct ReduceMean {
  static constexpr std::string_view kName = "reduce_mean";
};

}  // namespace op

/// Reductions over the last dimension of a row.
std::span<const OpDef> reduction_ops();

}  // namespace fuselage
