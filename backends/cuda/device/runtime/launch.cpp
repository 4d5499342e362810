#include "backends/cuda/device/runtime/launch.h"

#include <fmt/format.h>

#include <string>

#include "fuselage/base/error.h"

namespace fuselage::cuda {

void expect_success(cudaError_t status, std::string_view what) {
  if (status == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());  // clears the error for the next call
  const std::string message = fmt::format("CUDA: {} failed: {} ({})", what,
                                          cudaGetErrorString(status), cudaGetErrorName(status));
  if (status == cudaErrorMemoryAllocation) throw OutOfMemory(message);
  throw Error(message);
}

namespace {

/// Whether launches in the stream become a graph of a device that starts kernels early.
bool starts_early(cudaStream_t stream) {
  constexpr int kMajor = 9;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  expect_success(cudaStreamIsCapturing(stream, &status), "query of a stream");
  if (status != cudaStreamCaptureStatusActive) return false;
  int device = 0;
  int major = 0;
  expect_success(cudaGetDevice(&device), "query of the current device");
  expect_success(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
                 "query of the device's compute capability");
  return major >= kMajor;
}

}  // namespace

NativeConfig::NativeConfig(cudaStream_t stream, const LaunchConfig& config, bool early) {
  native_.gridDim = config.grid;
  native_.blockDim = config.block;
  native_.dynamicSmemBytes = config.shared_bytes;
  native_.stream = stream;
  if (!early || !starts_early(stream)) return;
  attribute_.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute_.val.programmaticStreamSerializationAllowed = 1;
  native_.attrs = &attribute_;
  native_.numAttrs = 1;
}

void allow_max_shared(const void* kernel) {
  int device = 0;
  int bytes = 0;
  expect_success(cudaGetDevice(&device), "query of the current device");
  expect_success(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
                 "query of the size of shared memory");
  // The maximum, not the size of this launch: the limit belongs to the kernel, and launches of
  // other threads or of the same captured graph may need more.
  expect_success(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
                 "raising a kernel's limit of shared memory");
}

}  // namespace fuselage::cuda
