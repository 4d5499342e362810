#include <cmath>

#include "backends/cuda/device/gather/positions.h"
#include "backends/cuda/device/runtime/early_start.h"
#include "backends/cuda/device/runtime/launch_config.h"
#include "backends/cuda/device/runtime/put_floats.h"

namespace fuselage::cuda {
namespace {

__global__ void position_kernel(const std::int32_t* positions, Rows rows,
                                ResultOf<std::int32_t> out) {
  start_early();
  const std::int64_t r = std::int64_t{blockIdx.x} * blockDim.y + threadIdx.y;
  if (r < *rows.live) *row_of(out, r) = positions[r];
}

/// The angle of column c of the sines. Frequencies are computed in double, since an error in the
/// last bit of a frequency grows with the position.
__device__ float angle_of(std::int32_t position, std::int64_t c, float increment) {
  const auto frequency = static_cast<float>(exp(double{-increment * static_cast<float>(c)}));
  return static_cast<float>(position) * frequency;
}

/// A thread for each sine and its cosine.
__global__ void sinusoid_kernel(RowsOf<std::int32_t> x, Rows rows, std::int64_t half,
                                float increment, RowsOut out) {
  start_early();
  const std::int64_t r = std::int64_t{blockIdx.x} * blockDim.y + threadIdx.y;
  if (r >= *rows.live) return;
  const std::int32_t position = *row_of(x, r);
  float* to = row_of(out, r);
  for (std::int64_t c = std::int64_t{blockIdx.y} * blockDim.x + threadIdx.x; c < half;
       c += std::int64_t{gridDim.y} * blockDim.x) {
    const float angle = angle_of(position, c, increment);
    to[c] = sinf(angle);
    to[half + c] = cosf(angle);
  }
}

/// The same, added to x.
__global__ void add_sinusoid_kernel(RowsIn x, const std::int32_t* positions, Rows rows,
                                    std::int64_t half, float increment, FloatsOut out) {
  start_early();
  const std::int64_t r = std::int64_t{blockIdx.x} * blockDim.y + threadIdx.y;
  if (r >= *rows.live) return;
  const float* from = row_of(x, r);
  const FloatRow to = row_of(out, r);
  for (std::int64_t c = std::int64_t{blockIdx.y} * blockDim.x + threadIdx.x; c < half;
       c += std::int64_t{gridDim.y} * blockDim.x) {
    const float angle = angle_of(positions[r], c, increment);
    to.put(c, element(from, c) + sinf(angle));
    to.put(half + c, element(from, half + c) + cosf(angle));
  }
}

/// A thread for each pair of coordinates.
__global__ void rotary_kernel(RowsIn x, RowsIn cos, RowsIn sin, Rows rows, std::int64_t pairs,
                              std::int64_t half, RowsOut out) {
  start_early();
  const std::int64_t r = std::int64_t{blockIdx.x} * blockDim.y + threadIdx.y;
  if (r >= *rows.live) return;
  for (std::int64_t p = std::int64_t{blockIdx.y} * blockDim.x + threadIdx.x; p < pairs;
       p += std::int64_t{gridDim.y} * blockDim.x) {
    const std::int64_t i = p % half;
    const std::int64_t at = p / half * 2 * half + i;
    const float c = row_of(cos, r)[i], s = row_of(sin, r)[i];
    const float a = row_of(x, r)[at], b = row_of(x, r)[at + half];
    row_of(out, r)[at] = a * c - b * s;
    row_of(out, r)[at + half] = b * c + a * s;
  }
}

/// The logarithm of the ratio of one frequency to the next.
float increment_of(std::int64_t half) {
  return std::log(10000.0f) / (static_cast<float>(half) - 1.0f);
}

}  // namespace

void copy_positions(cudaStream_t stream, const std::int32_t* positions, const Rows& rows,
                    const ResultOf<std::int32_t>& out) {
  launch_early(stream, position_kernel, config_for_elements(rows, 1), positions, rows, out);
}

void sinusoid(cudaStream_t stream, const RowsOf<std::int32_t>& x, const Rows& rows,
              std::int64_t columns, const RowsOut& out) {
  const std::int64_t half = columns / 2;
  launch_early(stream, sinusoid_kernel, config_for_elements(rows, half), x, rows, half,
               increment_of(half), out);
}

void add_sinusoid(cudaStream_t stream, const RowsIn& x, const std::int32_t* positions,
                  const Rows& rows, const FloatsOut& out) {
  const std::int64_t half = x.columns / 2;
  launch_early(stream, add_sinusoid_kernel, config_for_elements(rows, half), x, positions, rows,
               half, increment_of(half), out);
}

void rotary(cudaStream_t stream, const RowsIn& x, const RowsIn& cos, const RowsIn& sin,
            const Rows& rows, std::int64_t heads, std::int64_t half, const RowsOut& out) {
  const std::int64_t pairs = heads * half;
  launch_early(stream, rotary_kernel, config_for_elements(rows, pairs), x, cos, sin, rows, pairs,
               half, out);
}

}  // namespace fuselage::cuda
