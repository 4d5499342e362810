#include "emulated_cuda/ptx.h"

#include <cuda_runtime.h>

namespace emulated_cuda {
namespace {

constexpr std::size_t kMaxThreads = 1024;
constexpr std::uint32_t kLanes = 32;

std::size_t number_of_thread() {
  return threadIdx.x + blockDim.x * (threadIdx.y + std::size_t{blockDim.y} * threadIdx.z);
}

}  // namespace

CopyGroups& copies_of_thread() {
  static thread_local std::array<CopyGroups, kMaxThreads> groups;
  return groups[number_of_thread()];
}

Brought& brought_by(std::uint32_t lane) {
  static thread_local std::array<Brought, kMaxThreads> brought;
  return brought[number_of_thread() / kLanes * kLanes + lane];
}

}  // namespace emulated_cuda
