#include "backends/cuda/device/runtime/launch.h"

#include "base/error.h"

namespace fuselage::cuda {

void expect_success(cudaError_t status, std::string_view what) {
  if (status == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());  // of which the next call would hear again
  throw Error("CUDA: {} failed: {} ({})", what, cudaGetErrorString(status),
              cudaGetErrorName(status));
}

void allow_all_shared(const void* kernel) {
  int device = 0;
  int bytes = 0;
  expect_success(cudaGetDevice(&device), "the current device");
  expect_success(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
                 "the size of shared memory");
  // Not what this launch takes: the limit is the kernel's own, and other threads, or launches that
  // the same graph captures, may take more.
  expect_success(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
                 "use of all shared memory");
}

}  // namespace fuselage::cuda
