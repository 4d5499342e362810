#include <utility>

#include "backends/cuda/device/gemm/integer_gemm.h"
#include "backends/cuda/device/runtime/dot_products.h"
#include "backends/cuda/device/runtime/early_start.h"
#include "backends/cuda/device/runtime/launch.h"
#include "backends/cuda/device/runtime/memory.h"

namespace fuselage::cuda {
namespace {

// A block computes a tile: kThreadsAcross² threads, with kEach vectors by kColumnsEach columns
// each. Both operands go through shared memory, kDepth words of packed integers at a time.
constexpr int kThreadsAcross = 16;
constexpr int kThreads = kThreadsAcross * kThreadsAcross;
constexpr int kColumnsEach = 4;
constexpr int kColumns = kThreadsAcross * kColumnsEach;
constexpr int kDepth = 16;
// Padding of tiles in shared memory, against bank conflicts.
constexpr int kPadding = 4;

constexpr Purpose kDequantized{"a dequantized matrix", "use another precision or another device"};

/// Loads words first … first + kDepth - 1 of kCount vectors or columns to shared memory. at(i) is
/// the start of vector i, or null for zeros.
template <int kCount, class At>
__device__ inline void load_words(int (&tile)[kDepth][kCount + kPadding], std::int64_t first,
                                  std::int64_t words, const At& at) {
  const int depth = static_cast<int>(threadIdx.x) % kDepth;
  for (int i = static_cast<int>(threadIdx.x) / kDepth; i < kCount; i += kThreads / kDepth) {
    const int* from = first + depth < words ? at(i) : nullptr;
    tile[depth][i] = from ? from[first + depth] : 0;
  }
}

template <class Integers, int kEach>
__device__ inline void multiply_words(const int (&rows)[kDepth][kThreadsAcross * kEach + kPadding],
                                      const int (&columns)[kDepth][kColumns + kPadding],
                                      int (&sums)[kEach][kColumnsEach]) {
  const int y = static_cast<int>(threadIdx.x) / kThreadsAcross;
  const int x = static_cast<int>(threadIdx.x) % kThreadsAcross;
#pragma unroll
  for (int d = 0; d < kDepth; ++d)
#pragma unroll
    for (int r = 0; r < kEach; ++r)
#pragma unroll
      for (int c = 0; c < kColumnsEach; ++c)
        sums[r][c] =
            Integers::dot(rows[d][y * kEach + r], columns[d][x + c * kThreadsAcross], sums[r][c]);
}

/// The addresses of a tile's vectors; null for zeros and for rows that are not live.
template <int kRows>
__device__ inline void find_vectors(const VectorsIn& in, std::int64_t first,
                                    const float* (&vectors)[kRows]) {
  const std::int64_t live = live_vectors(in);
  for (int i = static_cast<int>(threadIdx.x); i < kRows; i += kThreads)
    vectors[i] = first + i < live ? vector_of(in, first + i) : nullptr;
}

/// Scales the tile that begins with this row and column, and writes it.
template <int kEach>
__device__ inline void store_tile(const int (&sums)[kEach][kColumnsEach],
                                  const float* const* vectors, std::int64_t first_row,
                                  std::int64_t first_column, std::int64_t live,
                                  const DeviceMatrix& matrix, const VectorsOut& out) {
  const int y = static_cast<int>(threadIdx.x) / kThreadsAcross * kEach;
  const int x = static_cast<int>(threadIdx.x) % kThreadsAcross;
#pragma unroll
  for (int r = 0; r < kEach; ++r) {
    if (first_row + y + r >= live) continue;
    const float row_scale = vectors[y + r] ? vectors[y + r][0] : 0;
    float* to = vector_of(out, first_row + y + r);
#pragma unroll
    for (int c = 0; c < kColumnsEach; ++c) {
      const std::int64_t column = first_column + x + c * kThreadsAcross;
      if (column < matrix.n) to[column] = scaled(sums[r][c], matrix.scales[column], row_scale);
    }
  }
}

template <class Integers, int kEach>
__global__ void __launch_bounds__(kThreads, 2)
    multiply(VectorsIn in, DeviceMatrix matrix, VectorsOut out) {
  start_early();
  constexpr int kRows = kThreadsAcross * kEach;
  __shared__ const float* vectors[kRows];
  __shared__ int rows[kDepth][kRows + kPadding];
  __shared__ int columns[kDepth][kColumns + kPadding];
  const std::int64_t first_row = static_cast<std::int64_t>(blockIdx.x) * kRows;
  const std::int64_t first_column = static_cast<std::int64_t>(blockIdx.y) * kColumns;
  const std::int64_t live = live_vectors(in);
  if (first_row >= live) return;
  find_vectors(in, first_row, vectors);
  __syncthreads();
  const auto row_at = [&](int i) {
    return vectors[i] ? reinterpret_cast<const int*>(vectors[i]) + 1 : nullptr;
  };
  const auto* data = static_cast<const int*>(matrix.data);
  const auto column_at = [&](int i) {
    return first_column + i < matrix.n
               ? data + (first_column + i) * matrix.stride / Integers::kPerWord
               : nullptr;
  };
  const std::int64_t words = (matrix.k + Integers::kPerWord - 1) / Integers::kPerWord;
  int sums[kEach][kColumnsEach] = {};
  for (std::int64_t word = 0; word < words; word += kDepth) {
    load_words<kRows>(rows, word, words, row_at);
    load_words<kColumns>(columns, word, words, column_at);
    __syncthreads();
    multiply_words<Integers, kEach>(rows, columns, sums);
    __syncthreads();
  }
  store_tile(sums, vectors, first_row, first_column, live, matrix, out);
}

template <class Integers>
void multiply_tiles(cudaStream_t stream, const VectorsIn& in, const DeviceMatrix& matrix,
                    const VectorsOut& out) {
  const std::uint32_t tiles = blocks_for(matrix.n, kColumns);
  if (in.max_count() <= kThreadsAcross)
    launch_early(stream, multiply<Integers, 1>,
                 {{blocks_for(in.max_count(), kThreadsAcross), tiles}, kThreads}, in, matrix, out);
  else
    launch_early(stream, multiply<Integers, 4>,
                 {{blocks_for(in.max_count(), 4 * kThreadsAcross), tiles}, kThreads}, in, matrix,
                 out);
}

__global__ void scale_rows(VectorsIn in, const std::int32_t* sums, std::int64_t stride,
                           const float* scales, DeviceMatrix matrix, VectorsOut out) {
  start_early();
  const std::int64_t i = blockIdx.x;
  if (i >= live_vectors(in)) return;
  float* to = vector_of(out, i);
  for (std::int64_t c = threadIdx.x; c < matrix.n; c += kThreads)
    to[c] = scaled(sums[i * stride + c], matrix.scales[c], scales[i]);
}

template <typename T>
__global__ void dequantize(DeviceMatrix matrix, float* out) {
  const std::int64_t column = blockIdx.x;
  const T* from = static_cast<const T*>(matrix.data) + column * matrix.stride;
  const float scale = column < matrix.n ? matrix.scales[column] : 0;
  for (std::int64_t i = threadIdx.x; i < matrix.stride; i += kThreads)
    out[column * matrix.stride + i] = __fmul_rn(static_cast<float>(from[i]), scale);
}

}  // namespace

void integer_gemm(cudaStream_t stream, const VectorsIn& in, const DeviceMatrix& matrix,
                  const VectorsOut& out) {
  if (matrix.dtype == DType::i8)
    multiply_tiles<PackedInt8>(stream, in, matrix, out);
  else
    multiply_tiles<PackedInt16>(stream, in, matrix, out);
}

void scale_sums(cudaStream_t stream, const VectorsIn& in, const std::int32_t* sums,
                std::int64_t stride, const float* scales, const DeviceMatrix& matrix,
                const VectorsOut& out) {
  launch_early(stream, scale_rows, {blocks_for(in.max_count(), 1), kThreads}, in, sums, stride,
               scales, matrix, out);
}

std::shared_ptr<const DeviceMatrix> dequantized(const DeviceMatrix& matrix) {
  const std::int64_t columns = padded_size(matrix.n);
  DeviceMemory memory(static_cast<std::size_t>(columns * matrix.stride) * sizeof(float),
                      kDequantized);
  auto* data = reinterpret_cast<float*>(memory.data());
  const LaunchConfig config{static_cast<std::uint32_t>(columns), kThreads};
  if (matrix.dtype == DType::i8)
    launch(nullptr, dequantize<std::int8_t>, config, matrix, data);
  else
    launch(nullptr, dequantize<std::int16_t>, config, matrix, data);
  expect_success(cudaStreamSynchronize(nullptr), "dequantization of a matrix");
  struct Owner {
    DeviceMatrix matrix;
    DeviceMemory memory;
  };
  const auto owner = std::make_shared<Owner>(Owner{
      {.data = data, .k = matrix.k, .n = matrix.n, .stride = matrix.stride}, std::move(memory)});
  return {owner, &owner->matrix};
}

}  // namespace fuselage::cuda
