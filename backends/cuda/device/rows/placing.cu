#include "backends/cuda/device/rows/placing.h"
#include "backends/cuda/device/runtime/launch.h"

namespace fuselage::cuda {
namespace {

constexpr std::uint32_t kPlaceThreads = 256;

__global__ void place_map_kernel(PlacedMap map, Rows rows) {
  const auto r = static_cast<std::int32_t>(blockIdx.x * blockDim.x + threadIdx.x);
  if (r >= *rows.live) return;
  const std::int32_t target = map.index[r];
  map.out[map.from[r]] = map.to && target >= 0 ? map.to[target] : target;
}

}  // namespace

void place_map(cudaStream_t stream, const PlacedMap& map, const Rows& rows) {
  launch(stream, place_map_kernel, {blocks_for(rows.max_live, kPlaceThreads), kPlaceThreads}, map,
         rows);
}

}  // namespace fuselage::cuda
