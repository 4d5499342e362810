#pragma once

#include <cuda_runtime_api.h>

#include <functional>
#include <tuple>
#include <utility>

// The templates of the toolkit's header over prototypes of the runtime.

// NOLINTBEGIN(readability-identifier-naming): CUDA gave the names.

namespace emulated_cuda {

/// Enqueues a grid of threads that each call `thread`.
cudaError_t enqueue(const cudaLaunchConfig_t& config, const void* kernel,
                    std::function<void()> thread);

}  // namespace emulated_cuda

template <typename... Parameters, typename... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  std::tuple<Parameters...> values(std::forward<Arguments>(arguments)...);
  return emulated_cuda::enqueue(*config, reinterpret_cast<const void*>(kernel),
                                [kernel, values] { std::apply(kernel, values); });
}

template <typename... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, cudaKernel_t kernel,
                               Arguments&&... arguments) {
  void* pointers[] = {&arguments...};
  return cudaLaunchKernelExC(config, reinterpret_cast<const void*>(kernel), pointers);
}

template <typename T>
cudaError_t cudaFuncSetAttribute(T* kernel, cudaFuncAttribute attribute, int value) {
  return cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), attribute, value);
}
template <typename T>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, T* kernel, int threads,
                                                          std::size_t shared_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(
      blocks, reinterpret_cast<const void*>(kernel), threads, shared_bytes);
}

template <typename T>
cudaError_t cudaMalloc(T** place, std::size_t bytes) {
  return cudaMalloc(reinterpret_cast<void**>(place), bytes);
}
template <typename T>
cudaError_t cudaMallocAsync(T** place, std::size_t bytes, cudaStream_t stream) {
  return cudaMallocAsync(reinterpret_cast<void**>(place), bytes, stream);
}
template <typename T>
cudaError_t cudaMallocHost(T** place, std::size_t bytes, unsigned flags = 0) {
  return cudaHostAlloc(reinterpret_cast<void**>(place), bytes, flags);
}
template <typename T>
cudaError_t cudaHostAlloc(T** place, std::size_t bytes, unsigned flags) {
  return cudaHostAlloc(reinterpret_cast<void**>(place), bytes, flags);
}

// NOLINTEND(readability-identifier-naming)
