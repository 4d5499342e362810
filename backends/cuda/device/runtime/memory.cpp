#include "backends/cuda/device/runtime/memory.h"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include <algorithm>

#include "backends/cuda/device/runtime/launch.h"
#include "fuselage/base/error.h"

namespace fuselage::cuda {
namespace {

/// Unwritten floats are NaN, and unwritten indexes are -1. Libraries may compute on unused rows.
constexpr int kUnwritten = 0xff;

[[noreturn]] void refuse(std::size_t bytes, const Purpose& purpose) {
  static_cast<void>(cudaGetLastError());
  std::size_t free = 0;
  std::size_t total = 0;
  static_cast<void>(cudaMemGetInfo(&free, &total));
  throw OutOfMemory(fmt::format(
      "out of GPU memory for {}: {} MB are needed, {} MB of {} MB are free; {}", purpose.what,
      bytes / 1000000 + 1, free / 1000000, total / 1000000, purpose.advice));
}

}  // namespace

DeviceMemory::DeviceMemory(std::size_t bytes, const Purpose& purpose) : bytes_(bytes) {
  void* data = nullptr;
  const cudaError_t status = cudaMalloc(&data, std::max<std::size_t>(bytes, 1));
  if (status == cudaErrorMemoryAllocation) refuse(bytes, purpose);
  expect_success(status, "allocation of device memory");
  data_.reset(static_cast<std::byte*>(data));
  expect_success(cudaMemset(data, kUnwritten, bytes), "initialization of device memory");
  expect_success(cudaStreamSynchronize(nullptr), "initialization of device memory");
}

void DeviceMemory::Free::operator()(std::byte* data) const { static_cast<void>(cudaFree(data)); }

PinnedMemory::PinnedMemory(std::size_t bytes) : bytes_(bytes) {
  void* data = nullptr;
  expect_success(cudaMallocHost(&data, std::max<std::size_t>(bytes, 1)),
                 "allocation of page-locked host memory");
  data_.reset(static_cast<std::byte*>(data));
}

void PinnedMemory::Free::operator()(std::byte* data) const {
  static_cast<void>(cudaFreeHost(data));
}

}  // namespace fuselage::cuda
