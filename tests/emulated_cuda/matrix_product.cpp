#include "matrix_product.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <vector>

namespace emulated_cuda {
namespace {

float round_to_tf32(float x) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  if ((bits & 0x7f800000u) == 0x7f800000u) return x;
  const std::uint32_t half = 0x0fffu + (bits >> 13 & 1u);
  return std::bit_cast<float>((bits + half) & ~0x1fffu);
}

float load(const void* data, std::int64_t i, cudaDataType_t type) {
  switch (type) {
    case CUDA_R_16BF:
      return __bfloat162float(static_cast<const __nv_bfloat16*>(data)[i]);
    case CUDA_R_16F:
      return __half2float(static_cast<const __half*>(data)[i]);
    default:
      return static_cast<const float*>(data)[i];
  }
}

void store(void* data, std::int64_t i, cudaDataType_t type, float x) {
  switch (type) {
    case CUDA_R_16BF:
      static_cast<__nv_bfloat16*>(data)[i] = __float2bfloat16_rn(x);
      return;
    case CUDA_R_16F:
      static_cast<__half*>(data)[i] = __float2half_rn(x);
      return;
    default:
      static_cast<float*>(data)[i] = x;
  }
}

/// Vectors of k numbers: rows of a, columns of b. `along` is the stride within a vector.
template <typename T>
std::vector<T> vectors_of(const MatrixView& matrix, std::int64_t count, std::int64_t k,
                          bool contiguous, bool tf32) {
  const std::int64_t along = contiguous ? 1 : matrix.stride;
  const std::int64_t across = contiguous ? matrix.stride : 1;
  std::vector<T> vectors(static_cast<std::size_t>(count * k));
  for (std::int64_t i = 0; i < count; ++i) {
    T* vector = vectors.data() + i * k;
    for (std::int64_t j = 0; j < k; ++j) {
      const std::int64_t place = i * across + j * along;
      if constexpr (std::is_same_v<T, std::int8_t>) {
        vector[j] = static_cast<const std::int8_t*>(matrix.data)[place];
      } else {
        const float x = load(matrix.data, place, matrix.type);
        vector[j] = tf32 ? round_to_tf32(x) : x;
      }
    }
  }
  return vectors;
}

// The order of the sum depends on `count` alone.
float dot(const float* a, const float* b, std::int64_t count) {
  constexpr std::int64_t kSums = 16;
  float sums[kSums] = {};
  std::int64_t i = 0;
  for (; i + kSums <= count; i += kSums)
    for (std::int64_t j = 0; j < kSums; ++j) sums[j] += a[i + j] * b[i + j];
  for (std::int64_t j = 0; i + j < count; ++j) sums[j] += a[i + j] * b[i + j];
  for (std::int64_t width = kSums / 2; width > 0; width /= 2)
    for (std::int64_t j = 0; j < width; ++j) sums[j] += sums[j + width];
  return sums[0];
}

std::int32_t dot(const std::int8_t* a, const std::int8_t* b, std::int64_t count) {
  std::int32_t sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += std::int32_t{a[i]} * b[i];
  return sum;
}

void multiply_integers(const MatrixProduct& p) {
  const auto a = vectors_of<std::int8_t>(p.a, p.m, p.k, p.a.transposed, false);
  const auto b = vectors_of<std::int8_t>(p.b, p.n, p.k, !p.b.transposed, false);
  auto* result = static_cast<std::int32_t*>(p.result);
  const auto* c = static_cast<const std::int32_t*>(p.c);
  for (std::int64_t column = 0; column < p.n; ++column) {
    for (std::int64_t row = 0; row < p.m; ++row) {
      const std::int32_t sum = dot(&a[row * p.k], &b[column * p.k], p.k);
      std::int32_t& place = result[column * p.result_stride + row];
      place = static_cast<std::int32_t>(p.alpha) * sum;
      if (p.beta != 0) place += static_cast<std::int32_t>(p.beta) * c[column * p.c_stride + row];
    }
  }
}

float finished(const MatrixProduct& p, float sum, std::int64_t row, std::int64_t column) {
  float x = static_cast<float>(p.alpha) * sum;
  if (p.beta != 0) x += static_cast<float>(p.beta) * load(p.c, column * p.c_stride + row, p.type);
  if (p.bias) x += load(p.bias, row, p.type);
  return p.relu && x < 0 ? 0.0f : x;
}

}  // namespace

std::int64_t size_of(cudaDataType_t type) {
  switch (type) {
    case CUDA_R_8I:
      return 1;
    case CUDA_R_16BF:
    case CUDA_R_16F:
      return 2;
    default:
      return 4;
  }
}

void multiply(const MatrixProduct& p) {
  if (p.a.type == CUDA_R_8I) return multiply_integers(p);
  const auto a = vectors_of<float>(p.a, p.m, p.k, p.a.transposed, p.tf32);
  const auto b = vectors_of<float>(p.b, p.n, p.k, !p.b.transposed, p.tf32);
  const std::int64_t first = p.split_k ? p.k / 2 : p.k;
  for (std::int64_t column = 0; column < p.n; ++column) {
    for (std::int64_t row = 0; row < p.m; ++row) {
      const float* left = &a[row * p.k];
      const float* right = &b[column * p.k];
      float sum = dot(left, right, first);
      if (p.split_k) sum += dot(left + first, right + first, p.k - first);
      store(p.result, column * p.result_stride + row, p.type, finished(p, sum, row, column));
    }
  }
}

}  // namespace emulated_cuda
