#include "backends/cuda/device/rows/row_chunks.h"
#include "backends/cuda/device/runtime/launch.h"

namespace fuselage::cuda {
namespace {

constexpr std::int32_t kThreads = 128;

__global__ void count_live(Rows rows, std::int32_t size, std::int32_t chunks,
                           std::int32_t* counts) {
  const auto chunk = static_cast<std::int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  if (chunk < chunks) counts[chunk] = max(min(*rows.live - chunk * size, size), 0);
}

}  // namespace

void count_chunks(cudaStream_t stream, const Rows& rows, std::int32_t size, std::int32_t* counts) {
  const auto chunks = static_cast<std::int32_t>(blocks_for(rows.most, size));
  launch(stream, count_live, {dim3(blocks_for(chunks, kThreads)), dim3(kThreads)}, rows, size,
         chunks, counts);
}

}  // namespace fuselage::cuda
