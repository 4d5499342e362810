#include "backends/cuda/device/rows/index_path.h"
#include "backends/cuda/device/runtime/launch.h"

namespace fuselage::cuda {
namespace {

constexpr int kThreads = 256;

__device__ std::int64_t number_of_thread() {
  return std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}

__global__ void select_elements_kernel(RowsIn x, IndexPath row, IndexPath element, Rows rows,
                                       RowsOut out) {
  const std::int64_t r = number_of_thread();
  if (r >= *rows.live) return;
  const std::int32_t from = follow(row, r);
  const std::int32_t column = follow(element, r);
  row_of(out, r)[0] = from >= 0 && column >= 0 ? row_of(x, from)[column] : 0.0f;
}

__global__ void follow_from_pairs_kernel(IndexPath path, Segments segments, Rows left,
                                         std::int64_t columns, ResultOf<std::int32_t> ids) {
  const std::int64_t place = number_of_thread();
  const std::int64_t i = place / columns;
  if (i >= *left.live) return;
  std::int32_t& id = row_of(ids, i)[place % columns];
  if (id >= 0) id = follow(path, std::int64_t{segments.begin[i]} + id);
}

}  // namespace

void select_elements(cudaStream_t stream, const RowsIn& x, const IndexPath& row,
                     const IndexPath& element, const Rows& rows, const RowsOut& out) {
  launch(stream, select_elements_kernel, {blocks_for(rows.most, kThreads), kThreads}, x, row,
         element, rows, out);
}

void follow_from_pairs(cudaStream_t stream, const IndexPath& path, const Segments& segments,
                       const Rows& left, std::int64_t columns, const ResultOf<std::int32_t>& ids) {
  launch(stream, follow_from_pairs_kernel, {blocks_for(left.most * columns, kThreads), kThreads},
         path, segments, left, columns, ids);
}

}  // namespace fuselage::cuda
