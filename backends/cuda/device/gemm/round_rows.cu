#include "backends/cuda/device/gemm/round_rows.h"
#include "backends/cuda/device/runtime/early_start.h"
#include "backends/cuda/device/runtime/launch.h"
#include "backends/cuda/device/runtime/put_floats.h"

namespace fuselage::cuda {
namespace {

constexpr int kThreads = 128;

__global__ void round_kernel(VectorsIn in, std::int64_t width, FloatsOut out) {
  start_early();
  const std::int64_t i = blockIdx.x;
  if (i >= live_vectors(in)) return;
  const float* vector = vector_of(in, i);
  const std::int64_t before = out.rounded.first ? std::int64_t{*out.rounded.first} * in.per_row : 0;
  const FloatRow to{nullptr, out.rounded.data + (before + i) * out.rounded.stride, out.is_bf16};
  for (std::int64_t c = threadIdx.x; c < width; c += kThreads)
    to.put(c, vector && c < in.elements ? vector[c] : 0.0f);
}

/// The first `bytes` bytes of a word, then zeros.
__device__ inline std::uint32_t leading_bytes(std::uint32_t word, std::int64_t bytes) {
  if (bytes >= 4) return word;
  return bytes <= 0 ? 0 : word & ((1u << (8 * bytes)) - 1);
}

__global__ void split(VectorsIn in, std::int64_t bytes, std::int64_t words, std::uint32_t* integers,
                      float* scales) {
  start_early();
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

void round_rows(cudaStream_t stream, const VectorsIn& in, DType to, std::int64_t width,
                const ResultOf<std::uint16_t>& out) {
  launch_early(stream, round_kernel, {blocks_for(in.max_count(), 1), kThreads}, in, width,
               FloatsOut{.floats = {}, .rounded = out, .is_bf16 = to == DType::bf16});
}

void split_rows(cudaStream_t stream, const VectorsIn& in, std::int64_t bytes, std::int64_t stride,
                std::byte* integers, float* scales) {
  launch_early(stream, split, {blocks_for(in.max_count(), 1), kThreads}, in, bytes, stride / 4,
               reinterpret_cast<std::uint32_t*>(integers), scales);
}

}  // namespace fuselage::cuda
