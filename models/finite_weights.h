#pragma once

#include <string>

#include "base/tensor.h"

namespace fuselage {

/// Throws Error, which begins with `where`, for the first parameter that holds a NaN or an
/// infinity; of quantized vectors, for one whose scale is such.
void expect_finite(const TensorMap& weights, const std::string& where);

}  // namespace fuselage
