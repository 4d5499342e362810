#pragma once

#include <string>
#include <string_view>

namespace fuselage::cuda {

/// The CUDA C++ source of `static __device__ float op_NAME(float a)`, or with two floats, which
/// computes an elementwise op for one element. Empty for an op without a function.
std::string_view element_function(std::string_view op);

}  // namespace fuselage::cuda
