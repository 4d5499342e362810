#include "backends/cuda/device/launch.h"

#include "base/error.h"

namespace fuselage::cuda {

void expect_success(cudaError_t status, std::string_view what) {
  if (status == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());  // of which the next call would hear again
  throw Error("CUDA: {} failed: {} ({})", what, cudaGetErrorString(status),
              cudaGetErrorName(status));
}

}  // namespace fuselage::cuda
