#pragma once

#include <string>

#include "fuselage/base/tensor.h"

namespace fuselage {

/// Throws Error, which begins with `where`, for the first parameter with a NaN or infinite element;
/// for quantized vectors, with a NaN or infinite scale. Numbers that are made later are left to
/// what makes them.
void expect_finite(const TensorMap& weights, const std::string& where);

}  // namespace fuselage
