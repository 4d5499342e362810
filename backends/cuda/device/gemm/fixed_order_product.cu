#include "backends/cuda/device/gemm/fixed_order_product.h"
#include "backends/cuda/device/runtime/conversions.h"
#include "backends/cuda/device/runtime/early_start.h"
#include "backends/cuda/device/runtime/launch.h"

namespace fuselage::cuda {
namespace {

constexpr std::int32_t kSide = 16;            // threads of a block in each direction
constexpr std::int32_t kColumns = 4 * kSide;  // columns of a block, 4 for each thread
constexpr std::int32_t kDepth = 16;           // numbers along k in shared memory

template <typename T, typename Out>
struct FixedOrder {
  const T *x, *matrix;
  Out* out;
  std::int64_t rows, k, n, x_stride, matrix_stride, out_stride;
};

/// Loads kDepth numbers of `count` vectors, from `first` on, as [number][vector]; zeros past the
/// end.
template <std::int32_t kVectors, typename T>
__device__ void load_slab(float (&to)[kDepth][kVectors + 1], const T* from, std::int64_t first,
                          std::int64_t count, std::int64_t stride, std::int64_t begin,
                          std::int64_t end) {
  for (auto i = static_cast<std::int32_t>(threadIdx.x); i < kVectors * kDepth; i += kSide * kSide) {
    const std::int64_t vector = first + i / kDepth, at = begin + i % kDepth;
    to[i % kDepth][i / kDepth] =
        vector < count && at < end ? as_float(from[vector * stride + at]) : 0.0f;
  }
}

/// A block for each tile of rows and columns, a thread for kRowsEach by 4 of its elements.
template <std::int32_t kRowsEach, typename T, typename Out>
__global__ void __launch_bounds__(kSide* kSide) fixed_order_kernel(FixedOrder<T, Out> p) {
  start_early();
  constexpr std::int32_t kRows = kRowsEach * kSide;
  __shared__ float x[kDepth][kRows + 1];
  __shared__ float w[kDepth][kColumns + 1];
  const auto across = static_cast<std::int32_t>(threadIdx.x) % kSide;
  const auto down = static_cast<std::int32_t>(threadIdx.x) / kSide;
  const std::int64_t first_row = std::int64_t{blockIdx.y} * kRows;
  const std::int64_t first_column = std::int64_t{blockIdx.x} * kColumns;
  float sums[kRowsEach][4] = {};
  for (std::int64_t begin = 0; begin < p.k; begin += kDepth) {
    load_slab<kRows>(x, p.x, first_row, p.rows, p.x_stride, begin, p.k);
    load_slab<kColumns>(w, p.matrix, first_column, p.n, p.matrix_stride, begin, p.k);
    __syncthreads();
#pragma unroll
    for (std::int32_t i = 0; i < kDepth; ++i)
#pragma unroll
      for (std::int32_t r = 0; r < kRowsEach; ++r)
#pragma unroll
        for (std::int32_t c = 0; c < 4; ++c)
          sums[r][c] = __fmaf_rn(x[i][down + r * kSide], w[i][across + c * kSide], sums[r][c]);
    __syncthreads();
  }
  for (std::int32_t r = 0; r < kRowsEach; ++r)
    for (std::int32_t c = 0; c < 4; ++c) {
      const std::int64_t row = first_row + down + r * kSide;
      const std::int64_t column = first_column + across + c * kSide;
      if (row < p.rows && column < p.n)
        p.out[row * p.out_stride + column] = rounded<Out>(sums[r][c]);
    }
}

template <typename T, typename Out>
void run_fixed_order(cudaStream_t stream, const DeviceMatrix& matrix, const Product& product,
                     std::int64_t k) {
  const FixedOrder<T, Out> p{.x = static_cast<const T*>(product.x),
                             .matrix = static_cast<const T*>(matrix.data),
                             .out = static_cast<Out*>(product.out),
                             .rows = product.rows,
                             .k = k,
                             .n = matrix.n,
                             .x_stride = product.x_stride,
                             .matrix_stride = matrix.stride,
                             .out_stride = product.out_stride};
  const bool few = product.rows <= kSide;
  launch_early(stream, few ? fixed_order_kernel<1, T, Out> : fixed_order_kernel<4, T, Out>,
               {dim3(blocks_for(p.n, kColumns), blocks_for(p.rows, few ? kSide : 4 * kSide)),
                dim3(kSide * kSide)},
               p);
}

template <typename T>
void run_fixed_order(cudaStream_t stream, const DeviceMatrix& matrix, const Product& product,
                     std::int64_t k) {
  if (product.out_type == DType::f32)
    run_fixed_order<T, float>(stream, matrix, product, k);
  else
    run_fixed_order<T, T>(stream, matrix, product, k);
}

}  // namespace

void fixed_order_product(cudaStream_t stream, const DeviceMatrix& matrix, const Product& product,
                         std::int64_t k) {
  if (matrix.dtype == DType::bf16)
    run_fixed_order<__nv_bfloat16>(stream, matrix, product, k);
  else if (matrix.dtype == DType::f16)
    run_fixed_order<__half>(stream, matrix, product, k);
  else
    run_fixed_order<float>(stream, matrix, product, k);
}

}  // namespace fuselage::cuda
