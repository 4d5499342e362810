#include "backends/cuda/device/gemm/round_rows.h"
#include "backends/cuda/device/runtime/conversions.h"
#include "backends/cuda/device/runtime/launch.h"

namespace fuselage::cuda {
namespace {

constexpr int kThreads = 128;

template <typename T>
__global__ void round_kernel(VectorsIn in, std::int64_t stride, T* out) {
  const std::int64_t i = blockIdx.x;
  if (i >= live_vectors(in)) return;
  const float* vector = vector_of(in, i);
  T* to = out + i * stride;
  for (std::int64_t c = threadIdx.x; c < stride; c += kThreads)
    to[c] = rounded<T>(vector && c < in.elements ? vector[c] : 0.0f);
}

/// The first `bytes` bytes of a word, then zeros.
__device__ inline std::uint32_t leading_bytes(std::uint32_t word, std::int64_t bytes) {
  if (bytes >= 4) return word;
  return bytes <= 0 ? 0 : word & ((1u << (8 * bytes)) - 1);
}

__global__ void split(VectorsIn in, std::int64_t bytes, std::int64_t words, std::uint32_t* integers,
                      float* scales) {
  const std::int64_t i = blockIdx.x;
  if (i >= live_vectors(in)) return;
  const float* vector = vector_of(in, i);
  const auto* from = reinterpret_cast<const std::uint32_t*>(vector);
  for (std::int64_t w = threadIdx.x; w < words; w += kThreads) {
    const bool inside = vector && 4 * w < bytes;
    integers[i * words + w] = inside ? leading_bytes(from[1 + w], bytes - 4 * w) : 0;
  }
  if (threadIdx.x == 0) scales[i] = vector ? vector[0] : 0;
}

}  // namespace

void round_rows(cudaStream_t stream, const VectorsIn& in, DType to, std::int64_t stride,
                void* out) {
  const LaunchConfig config{blocks_for(in.max_count(), 1), kThreads};
  if (to == DType::bf16)
    launch(stream, round_kernel<__nv_bfloat16>, config, in, stride,
           static_cast<__nv_bfloat16*>(out));
  else
    launch(stream, round_kernel<__half>, config, in, stride, static_cast<__half*>(out));
}

void split_rows(cudaStream_t stream, const VectorsIn& in, std::int64_t bytes, std::int64_t stride,
                std::byte* integers, float* scales) {
  launch(stream, split, {blocks_for(in.max_count(), 1), kThreads}, in, bytes, stride / 4,
         reinterpret_cast<std::uint32_t*>(integers), scales);
}

}  // namespace fuselage::cuda
