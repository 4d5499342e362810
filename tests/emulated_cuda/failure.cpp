#include "failure.h"

#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>

#include "emulated_cuda/control.h"

namespace emulated_cuda {

void fail(const std::string& message) {
  fmt::print(stderr, "emulated CUDA: {} (FUSELAGE_EMULATION_SEED={})\n", message, seed());
  std::abort();
}

}  // namespace emulated_cuda
