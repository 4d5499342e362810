#pragma once

#include <span>
#include <string_view>

#include "fuselage/base/api.h"
#include "fuselage/graph/attributes.h"

namespace FUSELAGE_API fuselage {

namespace op {

struct Softmax {
  static constexpr std::string_view kName = "softmax";
};

struct LogSoftmax {
  static constexpr std::string_view kName = "log_softmax";
};

struct LogSumExp {
  static constexpr std::string_view kName = "log_sum_exp";
};

}  // namespace op

/// Softmax over the elements of a row.
std::span<const OpDef> softmax_ops();

}  // namespace fuselage
