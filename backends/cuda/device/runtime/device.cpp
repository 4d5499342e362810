#include "backends/cuda/device/runtime/device.h"

#include <cuda_runtime.h>
#include <fmt/core.h>

#include "backends/cuda/device/runtime/launch.h"
#include "base/error.h"

namespace fuselage::cuda {
namespace {

/// "13.0", of a version as CUDA numbers them.
std::string show_version(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

[[noreturn]] void refuse_driver() {
  int version = 0;  // so it stays where there is no driver
  static_cast<void>(cudaDriverGetVersion(&version));
  if (version == 0)
    throw Error(
        "there is no NVIDIA driver here, or the loader does not find its libcuda.so.1; install one "
        "for CUDA {}, say where it is (LD_LIBRARY_PATH), or use device cpu",
        show_version(CUDART_VERSION));
  throw Error(
      "the NVIDIA driver is too old: it knows CUDA {}, not {}; install a newer one, or use "
      "device cpu",
      show_version(version), show_version(CUDART_VERSION));
}

[[noreturn]] void refuse(int number, cudaError_t status) {
  static_cast<void>(cudaGetLastError());
  int count = 0;
  const cudaError_t counted = cudaGetDeviceCount(&count);
  static_cast<void>(cudaGetLastError());
  if (counted == cudaErrorInsufficientDriver) refuse_driver();
  if (counted != cudaSuccess || count == 0)
    throw Error("there is no GPU that CUDA can use ({}); use device cpu",
                cudaGetErrorString(counted == cudaSuccess ? cudaErrorNoDevice : counted));
  if (number < 0 || number >= count)
    throw Error(
        "there is no CUDA device {}: this machine has {}, numbered from 0; use cuda:0 or "
        "another of these",
        number, count);
  expect_success(status, fmt::format("choice of CUDA device {}", number));
  throw Error("CUDA device {} cannot be used; use another device", number);
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
