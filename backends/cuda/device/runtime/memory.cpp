#include "backends/cuda/device/runtime/memory.h"

#include <cuda_runtime.h>

#include <algorithm>

#include "backends/cuda/device/runtime/launch.h"
#include "base/error.h"

namespace fuselage::cuda {
namespace {

/// What is read before it is written is NaN, or the row that leads nowhere. Libraries may compute
/// on rows that nobody reads.
constexpr int kUnwritten = 0xff;

[[noreturn]] void refuse(std::size_t bytes, const Purpose& purpose) {
  static_cast<void>(cudaGetLastError());
  std::size_t free = 0;
  std::size_t total = 0;
  static_cast<void>(cudaMemGetInfo(&free, &total));
  throw Error("there is no room on the GPU for {}: {} MB are needed, {} MB of {} MB are free; {}",
              purpose.what, bytes / 1000000 + 1, free / 1000000, total / 1000000, purpose.advice);
}

}  // namespace

DeviceMemory::DeviceMemory(std::size_t bytes, const Purpose& purpose) : bytes_(bytes) {
  void* data = nullptr;
  const cudaError_t status = cudaMalloc(&data, std::max<std::size_t>(bytes, 1));
  if (status == cudaErrorMemoryAllocation) refuse(bytes, purpose);
  expect_success(status, "allocation of device memory");
  data_.reset(static_cast<std::byte*>(data));
  expect_success(cudaMemset(data, kUnwritten, bytes), "filling of device memory");
  expect_success(cudaStreamSynchronize(nullptr), "filling of device memory");
}

void DeviceMemory::Free::operator()(std::byte* data) const { static_cast<void>(cudaFree(data)); }

PinnedMemory::PinnedMemory(std::size_t bytes) : bytes_(bytes) {
  void* data = nullptr;
  expect_success(cudaMallocHost(&data, std::max<std::size_t>(bytes, 1)),
                 "allocation of host memory for copies");
  data_.reset(static_cast<std::byte*>(data));
}

void PinnedMemory::Free::operator()(std::byte* data) const {
  static_cast<void>(cudaFreeHost(data));
}

}  // namespace fuselage::cuda
