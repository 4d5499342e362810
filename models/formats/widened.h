#pragma once

#include <string>

#include "fuselage/base/tensor.h"

namespace fuselage {

/// The numbers of parameter `name` as f32. More than 64 KiB of halves in a mapped file are widened
/// at their first use, and checked at once. Throws Error, which begins with `where`, for one of
/// them that is not finite.
Tensor widened(const Tensor& tensor, const std::string& name, const std::string& where);

}  // namespace fuselage
