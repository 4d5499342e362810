// The runtime's functions for allocation, copies and fills.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "device_memory.h"
#include "stream.h"

using emulated_cuda::count_allocation;
using emulated_cuda::device_memory;
using emulated_cuda::device_of_thread;
using emulated_cuda::is_default;
using emulated_cuda::perform;
using emulated_cuda::refuse_in_capture;
using emulated_cuda::report;

namespace {

/// Page-locked host memory: copies access it when the stream executes them.
class PinnedMemory {
 public:
  void add(const void* data, std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    pieces_[static_cast<const char*>(data)] = bytes;
  }
  void remove(const void* data) {
    const std::lock_guard lock(mutex_);
    pieces_.erase(static_cast<const char*>(data));
  }
  bool holds(const void* data) {
    const std::lock_guard lock(mutex_);
    const auto* start = static_cast<const char*>(data);
    const auto after = pieces_.upper_bound(start);
    return after != pieces_.begin() && start < std::prev(after)->first + std::prev(after)->second;
  }

 private:
  std::mutex mutex_;
  std::map<const char*, std::size_t> pieces_;
};
PinnedMemory& pinned_memory() {
  static auto* const memory = new PinnedMemory;
  return *memory;
}

// As in CUDA, the kind of a copy must match the addresses.
bool allowed(bool to_device, bool from_device, cudaMemcpyKind kind) {
  switch (kind) {
    case cudaMemcpyHostToHost:
      return !to_device && !from_device;
    case cudaMemcpyHostToDevice:
      return to_device && !from_device;
    case cudaMemcpyDeviceToHost:
      return !to_device && from_device;
    case cudaMemcpyDeviceToDevice:
      return to_device && from_device;
    default:
      return true;
  }
}

// Pageable memory is read and written before the call returns.
cudaError_t copy_pageable(void* to, const void* from, std::size_t bytes, bool to_host,
                          cudaStream_t stream) {
  if (to_host) {
    const cudaError_t status = perform(stream, [=] { std::memcpy(to, from, bytes); });
    emulated_cuda::finish(stream);
    return status;
  }
  const auto* start = static_cast<const char*>(from);
  auto staged = std::make_shared<std::vector<char>>(start, start + bytes);
  return perform(stream, [=] { std::memcpy(to, staged->data(), bytes); });
}

}  // namespace

extern "C" {

cudaError_t cudaMalloc(void** data, size_t bytes) {
  *data = nullptr;
  if (const cudaError_t refused = refuse_in_capture()) return refused;
  if (bytes == 0) return cudaSuccess;
  if (count_allocation()) *data = device_memory().allocate(bytes, device_of_thread());
  return *data ? cudaSuccess : report(cudaErrorMemoryAllocation);
}
cudaError_t cudaMallocAsync(void** data, size_t bytes, cudaStream_t stream) {
  if (!is_default(stream) && stream->capture) return report(cudaErrorStreamCaptureUnsupported);
  return cudaMalloc(data, bytes);
}

cudaError_t cudaFree(void* data) {
  if (const cudaError_t refused = refuse_in_capture()) return refused;
  if (!data) return cudaSuccess;
  emulated_cuda::finish_all();
  return device_memory().free(data) ? cudaSuccess : report(cudaErrorInvalidValue);
}
cudaError_t cudaFreeAsync(void* data, cudaStream_t stream) {
  return perform(stream, [data] { device_memory().free(data); });
}

cudaError_t cudaHostAlloc(void** data, size_t bytes, unsigned) {
  *data = nullptr;
  if (const cudaError_t refused = refuse_in_capture()) return refused;
  if (count_allocation()) *data = std::malloc(bytes);
  if (!*data) return report(cudaErrorMemoryAllocation);
  std::memset(*data, 0xff, bytes);
  return cudaHostRegister(*data, bytes, 0);
}
cudaError_t cudaMallocHost(void** data, size_t bytes) { return cudaHostAlloc(data, bytes, 0); }
cudaError_t cudaFreeHost(void* data) {
  if (const cudaError_t refused = refuse_in_capture()) return refused;
  emulated_cuda::finish_all();
  pinned_memory().remove(data);
  std::free(data);
  return cudaSuccess;
}
cudaError_t cudaHostRegister(void* data, size_t bytes, unsigned) {
  pinned_memory().add(data, bytes);
  return cudaSuccess;
}
cudaError_t cudaHostUnregister(void* data) {
  pinned_memory().remove(data);
  return cudaSuccess;
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  *total = emulated_cuda::memory_of_device();
  *free = *total - std::min(*total, device_memory().size_bytes(device_of_thread()));
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  if (bytes == 0) return cudaSuccess;
  const bool to_device = device_memory().holds(to, bytes);
  const bool from_device = device_memory().holds(from, bytes);
  if (!allowed(to_device, from_device, kind)) return report(cudaErrorInvalidValue);
  const bool captured = !is_default(stream) && stream->capture;
  const bool pageable =
      (!to_device && !pinned_memory().holds(to)) || (!from_device && !pinned_memory().holds(from));
  if (pageable && !captured) return copy_pageable(to, from, bytes, !to_device, stream);
  return perform(stream, [=] { std::memmove(to, from, bytes); });
}
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  if (const cudaError_t refused = refuse_in_capture()) return refused;
  return cudaMemcpyAsync(to, from, bytes, kind, nullptr);
}
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream) {
  if (width > to_pitch || width > from_pitch) return report(cudaErrorInvalidPitchValue);
  for (size_t row = 0; row < height; ++row) {
    const cudaError_t status =
        cudaMemcpyAsync(static_cast<char*>(to) + row * to_pitch,
                        static_cast<const char*>(from) + row * from_pitch, width, kind, stream);
    if (status != cudaSuccess) return status;
  }
  return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void* data, int value, size_t bytes, cudaStream_t stream) {
  if (bytes == 0) return cudaSuccess;
  if (!device_memory().holds(data, bytes)) return report(cudaErrorInvalidValue);
  return perform(stream, [=] { std::memset(data, value, bytes); });
}
cudaError_t cudaMemset(void* data, int value, size_t bytes) {
  if (const cudaError_t refused = refuse_in_capture()) return refused;
  return cudaMemsetAsync(data, value, bytes, nullptr);
}

}  // extern "C"
