#pragma once

#include <cstdint>
#include <string_view>

#include "fuselage/base/tensor.h"
#include "fuselage/graph/type.h"

namespace fuselage {

/// An f32 tensor of random numbers around 0 with a standard deviation: sums of four uniform
/// numbers, which are nearly normal and the same on any machine. They depend on all arguments.
Tensor normal_tensor(const Dims& shape, double deviation, std::uint64_t seed,
                     std::string_view name);

}  // namespace fuselage
