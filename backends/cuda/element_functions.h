#pragma once

#include <string>
#include <string_view>

namespace fuselage::cuda {

/// CUDA C++ of a function `static __device__ float op_NAME(float a)`, or of two floats, that
/// computes an elementwise op for one element; empty for an op that has none.
std::string_view element_function(std::string_view op);

}  // namespace fuselage::cuda
