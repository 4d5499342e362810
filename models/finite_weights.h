#pragma once

#include <string>

#include "fuselage/base/tensor.h"

namespace fuselage {

/// Throws Error, which begins with `where`, for a NaN or infinite element of parameter `name`; for
/// quantized vectors, for a NaN or infinite scale. Pages of a file are given back.
void expect_finite(const Tensor& tensor, const std::string& name, const std::string& where);

/// The same for all parameters. Numbers that are made later are left to the code that makes them.
void expect_finite(const TensorMap& weights, const std::string& where);

}  // namespace fuselage
