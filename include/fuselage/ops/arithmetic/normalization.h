#pragma once

#include <span>
#include <string_view>
#include <tuple>

#include "fuselage/base/api.h"
#include "fuselage/graph/attributes.h"

namespace FUSELAGE_API fuselage {

namespace op {

/// Layer normalization (Ba et al. 2016, section 3.1); operands x, gain and optionally bias.
struct LayerNorm {
  static constexpr std::string_view kName = "layer_norm";
  double epsilon = 0;
  static constexpr auto attributes() {
    return std::tuple(required("epsilon", &LayerNorm::epsilon));
  }
};

/// RMS normalization, without mean and bias (Zhang and Sennrich 2019).
struct RmsNorm {
  static constexpr std::string_view kName = "rms_norm";
  double epsilon = 0;
  static constexpr auto attributes() { return std::tuple(required("epsilon", &RmsNorm::epsilon)); }
};

/// The number that a normalization adds to the variance.
struct Epsilon {
  double epsilon = 0;
  static constexpr auto attributes() { return std::tuple(required("epsilon", &Epsilon::epsilon)); }
};

}  // namespace op

/// Normalizations over a row.
std::span<const OpDef> normalization_ops();

}  // namespace fuselage
