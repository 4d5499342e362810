#include <cstdint>

#include "backends/cuda/device/runtime/launch.h"
#include "backends/cuda/device/runtime/ptx.h"
#include "bench/cuda/read_roof.h"

namespace fuselage::cuda {
namespace {

constexpr std::int32_t kThreads = 256;
constexpr std::int32_t kInFlight = 8;

__global__ void __launch_bounds__(kThreads)
    read_block(const uint4* data, std::int64_t count, float* sink) {
  const std::int64_t first = std::int64_t{blockIdx.x} * kThreads * kInFlight + threadIdx.x;
  uint4 read[kInFlight];
#pragma unroll
  for (std::int32_t i = 0; i < kInFlight; ++i)
    read[i] = first + i * kThreads < count ? load_once(data + first + i * kThreads) : uint4{};
  unsigned all = 0;
#pragma unroll
  for (std::int32_t i = 0; i < kInFlight; ++i) all |= read[i].x ^ read[i].y ^ read[i].z ^ read[i].w;
  if (all == 0x12345678u) *sink = 1;  // Rare, but keeps the compiler from removing the loads.
}

}  // namespace

void read_all(cudaStream_t stream, const void* data, std::size_t bytes, float* sink) {
  const auto count = static_cast<std::int64_t>(bytes / sizeof(uint4));
  launch(stream, read_block,
         {dim3(blocks_for(count, std::int64_t{kThreads} * kInFlight)), dim3(kThreads)},
         static_cast<const uint4*>(data), count, sink);
}

}  // namespace fuselage::cuda
