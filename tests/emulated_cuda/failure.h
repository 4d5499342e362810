#pragma once

#include <string>

namespace emulated_cuda {

/// Prints what a kernel or a call did that real CUDA would not bear, and the seed with which it
/// did. Ends the program, which has no place to throw to from within a kernel.
[[noreturn]] void fail(const std::string& message);

}  // namespace emulated_cuda
