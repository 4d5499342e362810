#include "backends/cuda/device/device.h"

#include <cuda_runtime.h>
#include <fmt/core.h>

#include "backends/cuda/device/launch.h"
#include "base/error.h"

namespace fuselage::cuda {
namespace {

std::string version(int number) { return fmt::format("{}.{}", number / 1000, number % 1000 / 10); }

/// Why `status` came of choosing a device.
[[noreturn]] void refuse(int number, cudaError_t status) {
  int count = 0;
  int driver = 0;
  const cudaError_t counted = cudaGetDeviceCount(&count);
  static_cast<void>(cudaDriverGetVersion(&driver));  // 0: there is none
  static_cast<void>(cudaGetLastError());
  if (counted == cudaErrorInsufficientDriver && driver > 0)
    throw Error(
        "the driver of the GPU is for CUDA {}, but this program needs one for CUDA {}; install it, "
        "or use --device cpu",
        version(driver), version(CUDART_VERSION));
  if (driver == 0)
    throw Error("there is no driver for a GPU here; install NVIDIA's, or use --device cpu");
  if (counted != cudaSuccess || count == 0)
    throw Error("there is no GPU that CUDA can use ({}); use --device cpu",
                cudaGetErrorString(counted == cudaSuccess ? cudaErrorNoDevice : counted));
  if (number < 0 || number >= count)
    throw Error(
        "there is no CUDA device {}: this machine has {}, numbered from 0; use --device cuda:0 or "
        "another of these",
        number, count);
  expect_success(status, fmt::format("choice of CUDA device {}", number));
  throw Error("CUDA device {} cannot be used; use another --device", number);
}

}  // namespace

void use_device(int number) {
  const cudaError_t status = cudaSetDevice(number);
  if (status != cudaSuccess) refuse(number, status);
}

std::string describe_device() {
  int number = 0;
  cudaDeviceProp properties{};
  expect_success(cudaGetDevice(&number), "asking for the device");
  expect_success(cudaGetDeviceProperties(&properties, number), "asking what the device is");
  return fmt::format("device {}: {}, {} MB", number, properties.name,
                     properties.totalGlobalMem / 1000000);
}

}  // namespace fuselage::cuda
