#pragma once

#include <string>

#include "fuselage/base/tensor.h"

namespace fuselage {

/// The numbers of parameter `name` as f32. If they are many halves in a mapped file, they are
/// widened at their first use, and checked at once. Throws Error, which begins with `where`, for
/// such a number that is not finite.
Tensor widened(const Tensor& tensor, const std::string& name, const std::string& where);

}  // namespace fuselage
