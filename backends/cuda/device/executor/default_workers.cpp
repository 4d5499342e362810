#include "backends/cuda/device/executor/default_workers.h"

#include <cuda_runtime.h>

#include "backends/cuda/device/runtime/launch.h"

namespace fuselage::cuda {
namespace {

/// The time of a step of launches.
constexpr double kStepSeconds = 1e-3;

/// An attribute of the current device; 0 if it does not tell.
int attribute(cudaDeviceAttr which) {
  int device = 0, value = 0;
  expect_success(cudaGetDevice(&device), "query of the current device");
  if (cudaDeviceGetAttribute(&value, which, device) == cudaSuccess) return value;
  static_cast<void>(cudaGetLastError());
  return 0;
}

}  // namespace

std::size_t default_workers(std::size_t bytes, double bytes_per_second) {
  return static_cast<double>(bytes) <= kStepSeconds * bytes_per_second ? 2 : 1;
}

double memory_bytes_per_second() {
  const double kilohertz = attribute(cudaDevAttrMemoryClockRate);
  const double bits = attribute(cudaDevAttrGlobalMemoryBusWidth);
  // Two transfers a cycle.
  return kilohertz > 0 && bits > 0 ? 2 * 1e3 * kilohertz * bits / 8 : 1e12;
}

}  // namespace fuselage::cuda
