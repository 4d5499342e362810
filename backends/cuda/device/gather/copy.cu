#include "backends/cuda/device/gather/copy.h"
#include "backends/cuda/device/runtime/early_start.h"
#include "backends/cuda/device/runtime/launch_config.h"
#include "backends/cuda/device/runtime/put_floats.h"

namespace fuselage::cuda {
namespace {

/// Calls f(row, column) for the elements of this thread.
template <typename F>
__device__ void for_each_element(const Rows& rows, std::int64_t columns, F f) {
  const std::int64_t live = *rows.live;
  for (std::int64_t r = std::int64_t{blockIdx.x} * blockDim.y + threadIdx.y; r < live;
       r += std::int64_t{gridDim.x} * blockDim.y)
    for (std::int64_t c = std::int64_t{blockIdx.y} * blockDim.x + threadIdx.x; c < columns;
         c += std::int64_t{gridDim.y} * blockDim.x)
      f(r, c);
}

template <typename T>
__global__ void copy_kernel(RowsOf<T> in, Rows rows, std::int64_t columns, ResultOf<T> out) {
  start_early();
  for_each_element(rows, columns, [&](std::int64_t r, std::int64_t c) {
    row_of(out, r)[c] = element(row_of(in, r), c);
  });
}

__global__ void round_copy_kernel(RowsIn in, Rows rows, std::int64_t columns, FloatsOut out) {
  start_early();
  for_each_element(rows, columns, [&](std::int64_t r, std::int64_t c) {
    row_of(out, r).put(c, element(row_of(in, r), c));
  });
}

template <typename T>
__global__ void continue_kernel(RowsOf<T> init, RowsOf<T> last, const std::int32_t* previous,
                                Rows rows, std::int64_t columns, ResultOf<T> out) {
  start_early();
  for_each_element(rows, columns, [&](std::int64_t r, std::int64_t c) {
    const T* from = previous[r] >= 0 ? row_of(last, previous[r]) : row_of(init, r);
    row_of(out, r)[c] = element(from, c);
  });
}

template <typename T>
__global__ void scatter_kernel(RowsOf<T> in, const std::int32_t* index, Rows rows,
                               std::int64_t columns, ResultOf<T> out) {
  start_early();
  for_each_element(rows, columns, [&](std::int64_t r, std::int64_t c) {
    row_of(out, index[r])[c] = element(row_of(in, r), c);
  });
}

}  // namespace

void copy_rows(cudaStream_t stream, const RowsIn& in, const Rows& rows, std::int64_t columns,
               const RowsOut& out) {
  if (columns % 4 == 0 && is_float4_aligned(in) && is_float4_aligned(out))
    launch_early(stream, copy_kernel<float4>, config_for_elements(rows, columns / 4), as_float4(in),
                 rows, columns / 4, as_float4(out));
  else
    launch_early(stream, copy_kernel<float>, config_for_elements(rows, columns), in, rows, columns,
                 out);
}

void copy_rounded_rows(cudaStream_t stream, const RowsIn& in, const Rows& rows,
                       std::int64_t columns, const FloatsOut& out) {
  launch_early(stream, round_copy_kernel, config_for_elements(rows, columns), in, rows, columns,
               out);
}

void continue_rows(cudaStream_t stream, const RowsIn& init, const RowsIn& last,
                   const std::int32_t* previous, const Rows& rows, std::int64_t columns,
                   const RowsOut& out) {
  if (columns % 4 == 0 && is_float4_aligned(init) && is_float4_aligned(last) &&
      is_float4_aligned(out))
    launch_early(stream, continue_kernel<float4>, config_for_elements(rows, columns / 4),
                 as_float4(init), as_float4(last), previous, rows, columns / 4, as_float4(out));
  else
    launch_early(stream, continue_kernel<float>, config_for_elements(rows, columns), init, last,
                 previous, rows, columns, out);
}

void scatter_rows(cudaStream_t stream, const RowsIn& in, const std::int32_t* index,
                  const Rows& rows, std::int64_t columns, const RowsOut& out) {
  if (columns % 4 == 0 && is_float4_aligned(in) && is_float4_aligned(out))
    launch_early(stream, scatter_kernel<float4>, config_for_elements(rows, columns / 4),
                 as_float4(in), index, rows, columns / 4, as_float4(out));
  else
    launch_early(stream, scatter_kernel<float>, config_for_elements(rows, columns), in, index, rows,
                 columns, out);
}

}  // namespace fuselage::cuda
