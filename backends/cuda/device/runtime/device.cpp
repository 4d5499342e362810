#include "backends/cuda/device/runtime/device.h"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include "backends/cuda/device/runtime/launch.h"
#include "fuselage/base/error.h"

namespace fuselage::cuda {
namespace {

/// A version number of CUDA, such as 13000, as text: "13.0".
std::string show_version(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

[[noreturn]] void refuse_driver() {
  int version = 0;  // stays 0 without a driver
  static_cast<void>(cudaDriverGetVersion(&version));
  if (version == 0)
    throw Error(fmt::format(
        "no NVIDIA driver: the loader finds no libcuda.so.1; install a driver for CUDA {}, add its "
        "folder to LD_LIBRARY_PATH, or use device cpu",
        show_version(CUDART_VERSION)));
  throw Error(fmt::format(
      "the NVIDIA driver is too old: it supports CUDA {}, and CUDA {} is needed; install a newer "
      "driver, or use device cpu",
      show_version(version), show_version(CUDART_VERSION)));
}

[[noreturn]] void refuse(int number, cudaError_t status) {
  static_cast<void>(cudaGetLastError());
  int count = 0;
  const cudaError_t counted = cudaGetDeviceCount(&count);
  static_cast<void>(cudaGetLastError());
  if (counted == cudaErrorInsufficientDriver) refuse_driver();
  if (counted != cudaSuccess || count == 0)
    throw Error(
        fmt::format("CUDA finds no usable GPU ({}); use device cpu",
                    cudaGetErrorString(counted == cudaSuccess ? cudaErrorNoDevice : counted)));
  if (number < 0 || number >= count)
    throw Error(fmt::format(
        "there is no CUDA device {}: this machine has {} of them, numbered from 0; use a device "
        "from cuda:0 to cuda:{}",
        number, count, count - 1));
  expect_success(status, fmt::format("selection of CUDA device {}", number));
  throw Error(
      fmt::format("CUDA device {} cannot be used; use another device or device cpu", number));
}

}  // namespace

void use_device(int number) {
  const cudaError_t status = cudaSetDevice(number);
  if (status != cudaSuccess) refuse(number, status);
}

std::string describe_device() {
  int number = 0;
  cudaDeviceProp properties{};
  expect_success(cudaGetDevice(&number), "query of the current device");
  expect_success(cudaGetDeviceProperties(&properties, number), "query of device properties");
  return fmt::format("device {}: {}, {} MB", number, properties.name,
                     properties.totalGlobalMem / 1000000);
}

}  // namespace fuselage::cuda
