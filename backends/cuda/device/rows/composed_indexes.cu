#include <algorithm>

#include "backends/cuda/device/rows/composed_indexes.h"
#include "backends/cuda/device/rows/index_path.h"
#include "backends/cuda/device/runtime/launch.h"

namespace fuselage::cuda {
namespace {

constexpr std::uint32_t kThreads = 128;
constexpr std::uint32_t kMaxBlocks = 1024;  ///< of a path; threads take several rows beyond

/// Blocks in y stand for paths.
__global__ void compose(const ComposedIndex* paths) {
  const ComposedIndex path = paths[blockIdx.y];
  const std::int32_t rows = *path.rows;
  const auto begin = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const auto step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t r = begin; r < rows; r += step)
    path.out[r] = follow(path.maps, path.map_count, r);
}

}  // namespace

void compose_indexes(cudaStream_t stream, const ComposedIndex* paths, std::int32_t count,
                     std::int32_t most_rows) {
  const std::uint32_t blocks = std::min(blocks_for(most_rows, kThreads), kMaxBlocks);
  launch(stream, compose, {{blocks, static_cast<std::uint32_t>(count), 1}, {kThreads, 1, 1}},
         paths);
}

}  // namespace fuselage::cuda
