// The runtime's functions about devices, versions and errors.
#include <cuda_runtime_api.h>

#include <atomic>
#include <cstdio>
#include <utility>

#include "device_memory.h"
#include "emulated_cuda/control.h"
#include "stream.h"

namespace emulated_cuda {
namespace {

constexpr int kDevices = 2;

thread_local cudaError_t last_error = cudaSuccess;
thread_local int current_device = 0;

std::atomic<int> driver_version{CUDART_VERSION};

/// Calls fail with a driver older than the runtime.
cudaError_t refuse_driver() {
  return driver_version < CUDART_VERSION ? report(cudaErrorInsufficientDriver) : cudaSuccess;
}

}  // namespace

int device_of_thread() { return current_device; }

void set_driver_version(int version) { driver_version = version; }

cudaError_t report(cudaError_t error) {
  if (error != cudaSuccess) last_error = error;
  return error;
}

}  // namespace emulated_cuda

using emulated_cuda::refuse_driver;
using emulated_cuda::report;

extern "C" {

cudaError_t cudaGetLastError() { return std::exchange(emulated_cuda::last_error, cudaSuccess); }
cudaError_t cudaPeekAtLastError() { return emulated_cuda::last_error; }

const char* cudaGetErrorName(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "cudaSuccess";
    case cudaErrorInvalidValue:
      return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation:
      return "cudaErrorMemoryAllocation";
    case cudaErrorInvalidConfiguration:
      return "cudaErrorInvalidConfiguration";
    case cudaErrorStreamCaptureUnsupported:
      return "cudaErrorStreamCaptureUnsupported";
    case cudaErrorStreamCaptureInvalidated:
      return "cudaErrorStreamCaptureInvalidated";
    default:
      return "an error of the emulated CUDA";
  }
}
const char* cudaGetErrorString(cudaError_t error) { return cudaGetErrorName(error); }

cudaError_t cudaGetDeviceCount(int* count) {
  if (const cudaError_t refused = refuse_driver()) return refused;
  *count = emulated_cuda::kDevices;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = emulated_cuda::current_device;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  if (const cudaError_t refused = refuse_driver()) return refused;
  if (device < 0 || device >= emulated_cuda::kDevices) return report(cudaErrorInvalidDevice);
  emulated_cuda::current_device = device;
  return cudaSuccess;
}

// The attributes of an H200, but few multiprocessors, so that kernels that depend on the number
// need several waves of blocks.
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (device < 0 || device >= emulated_cuda::kDevices) return report(cudaErrorInvalidDevice);
  *properties = {};
  std::snprintf(properties->name, sizeof properties->name, "emulated CUDA");
  properties->major = 9;
  properties->minor = 0;
  properties->multiProcessorCount = 4;
  properties->warpSize = 32;
  properties->maxThreadsPerBlock = 1024;
  properties->maxThreadsPerMultiProcessor = 2048;
  properties->sharedMemPerBlock = 48 << 10;
  properties->sharedMemPerBlockOptin = 227 << 10;
  properties->sharedMemPerMultiprocessor = 228 << 10;
  properties->totalGlobalMem = emulated_cuda::memory_of_device();
  properties->l2CacheSize = 50 << 20;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  cudaDeviceProp properties;
  if (const cudaError_t status = cudaGetDeviceProperties(&properties, device)) return status;
  switch (attribute) {
    case cudaDevAttrComputeCapabilityMajor:
      *value = properties.major;
      return cudaSuccess;
    case cudaDevAttrComputeCapabilityMinor:
      *value = properties.minor;
      return cudaSuccess;
    case cudaDevAttrMultiProcessorCount:
      *value = properties.multiProcessorCount;
      return cudaSuccess;
    case cudaDevAttrMemoryClockRate:
      *value = 3201000;
      return cudaSuccess;
    case cudaDevAttrGlobalMemoryBusWidth:
      *value = 6144;
      return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      *value = static_cast<int>(properties.sharedMemPerBlock);
      return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = static_cast<int>(properties.sharedMemPerBlockOptin);
      return cudaSuccess;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      *value = properties.maxThreadsPerMultiProcessor;
      return cudaSuccess;
    case cudaDevAttrL2CacheSize:
      *value = properties.l2CacheSize;
      return cudaSuccess;
    default:
      return report(cudaErrorNotSupported);
  }
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = emulated_cuda::driver_version;
  return cudaSuccess;
}

}  // extern "C"
