#pragma once

#include <string>

namespace emulated_cuda {

/// Prints an error of a kernel or call, and the seed, and ends the program: kernels cannot throw.
[[noreturn]] void fail(const std::string& message);

}  // namespace emulated_cuda
