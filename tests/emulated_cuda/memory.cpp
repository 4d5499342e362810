// The runtime's functions that take, copy and fill memory.
#include <cuda_runtime_api.h>

#include <cstdlib>
#include <cstring>

#include "device_memory.h"
#include "stream.h"

using emulated_cuda::count_allocation;
using emulated_cuda::device_memory;
using emulated_cuda::perform;
using emulated_cuda::refuse_in_capture;
using emulated_cuda::report;

namespace {

// As CUDA: the kind of a copy must be what the addresses are.
bool allowed(const void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  const bool to_device = device_memory().holds(to, bytes);
  const bool from_device = device_memory().holds(from, bytes);
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

}  // namespace

extern "C" {

cudaError_t cudaMalloc(void** data, size_t bytes) {
  *data = nullptr;
  if (const cudaError_t refused = refuse_in_capture()) return refused;
  if (bytes == 0) return cudaSuccess;
  count_allocation();
  *data = device_memory().allocate(bytes);
  return *data ? cudaSuccess : report(cudaErrorMemoryAllocation);
}
cudaError_t cudaMallocAsync(void** data, size_t bytes, cudaStream_t stream) {
  if (stream && stream->capture) return report(cudaErrorStreamCaptureUnsupported);
  return cudaMalloc(data, bytes);
}

cudaError_t cudaFree(void* data) {
  if (const cudaError_t refused = refuse_in_capture()) return refused;
  if (!data) return cudaSuccess;
  return device_memory().free(data) ? cudaSuccess : report(cudaErrorInvalidValue);
}
cudaError_t cudaFreeAsync(void* data, cudaStream_t) { return cudaFree(data); }

cudaError_t cudaHostAlloc(void** data, size_t bytes, unsigned) {
  if (const cudaError_t refused = refuse_in_capture()) return refused;
  count_allocation();
  *data = std::malloc(bytes);
  if (!*data) return report(cudaErrorMemoryAllocation);
  std::memset(*data, 0xff, bytes);
  return cudaSuccess;
}
cudaError_t cudaMallocHost(void** data, size_t bytes) { return cudaHostAlloc(data, bytes, 0); }
cudaError_t cudaFreeHost(void* data) {
  std::free(data);
  return cudaSuccess;
}
cudaError_t cudaHostRegister(void*, size_t, unsigned) { return cudaSuccess; }
cudaError_t cudaHostUnregister(void*) { return cudaSuccess; }

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  *total = std::size_t{4} << 30;
  *free = *total - device_memory().size_bytes();
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  if (bytes == 0) return cudaSuccess;
  if (!allowed(to, from, bytes, kind)) return report(cudaErrorInvalidValue);
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
