#include <algorithm>

#include "backends/cuda/device/rows/index_path.h"
#include "backends/cuda/device/runtime/early_start.h"
#include "backends/cuda/device/runtime/launch.h"

namespace fuselage::cuda {
namespace {

constexpr int kThreads = 256;
constexpr std::uint32_t kComposeThreads = 128;
constexpr std::uint32_t kMaxComposeBlocks = 1024;  ///< per path; threads loop over further rows

__device__ std::int64_t number_of_thread() {
  return std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}

/// Blocks in y for paths.
__global__ void compose_kernel(const ComposedIndex* paths) {
  start_early();
  const ComposedIndex path = paths[blockIdx.y];
  const std::int32_t rows = *path.rows;
  const std::int64_t step = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t r = number_of_thread(); r < rows; r += step)
    path.out[r] = follow(path.maps, path.map_count, r);
}

__global__ void select_elements_kernel(RowsIn x, IndexPath row, IndexPath element, Rows rows,
                                       RowsOut out) {
  start_early();
  const std::int64_t r = number_of_thread();
  if (r >= *rows.live) return;
  const std::int32_t from = follow(row, r);
  const std::int32_t column = follow(element, r);
  row_of(out, r)[0] = from >= 0 && column >= 0 ? row_of(x, from)[column] : 0.0f;
}

__global__ void follow_from_pairs_kernel(IndexPath path, Segments segments, Rows left,
                                         std::int64_t columns, ResultOf<std::int32_t> ids) {
  start_early();
  const std::int64_t number = number_of_thread();
  const std::int64_t i = number / columns;
  if (i >= *left.live) return;
  std::int32_t& id = row_of(ids, i)[number % columns];
  if (id >= 0) id = follow(path, std::int64_t{segments.begin[i]} + id);
}

}  // namespace

void compose_indexes(cudaStream_t stream, const ComposedIndex* paths, std::int32_t count,
                     std::int32_t max_rows) {
  const std::uint32_t blocks = std::min(blocks_for(max_rows, kComposeThreads), kMaxComposeBlocks);
  launch_early(stream, compose_kernel,
               {{blocks, static_cast<std::uint32_t>(count), 1}, {kComposeThreads, 1, 1}}, paths);
}

void select_elements(cudaStream_t stream, const RowsIn& x, const IndexPath& row,
                     const IndexPath& element, const Rows& rows, const RowsOut& out) {
  launch_early(stream, select_elements_kernel, {blocks_for(rows.max_live, kThreads), kThreads}, x,
               row, element, rows, out);
}

void follow_from_pairs(cudaStream_t stream, const IndexPath& path, const Segments& segments,
                       const Rows& left, std::int64_t columns, const ResultOf<std::int32_t>& ids) {
  launch_early(stream, follow_from_pairs_kernel,
               {blocks_for(left.max_live * columns, kThreads), kThreads}, path, segments, left,
               columns, ids);
}

}  // namespace fuselage::cuda
