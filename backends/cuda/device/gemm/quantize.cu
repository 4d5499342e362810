#include "backends/cuda/device/gemm/quantize.h"
#include "backends/cuda/device/runtime/conversions.h"
#include "backends/cuda/device/runtime/early_start.h"
#include "backends/cuda/device/runtime/launch_config.h"
#include "backends/cuda/device/runtime/rows.h"
#include "backends/cuda/device/runtime/thread_group.h"
#include "base/numbers/logarithmic.h"

namespace fuselage::cuda {
namespace {

// The bits of magnitudes, as integers, are ordered like the magnitudes; infinity and NaN are last.
constexpr unsigned kMagnitude = 0x7fffffffu;
constexpr unsigned kInfinityBits = 0x7f800000u;
constexpr unsigned kNaNBits = 0x7fc00000u;

struct MaxBits {
  __device__ unsigned operator()(unsigned a, unsigned b) const { return a > b ? a : b; }
};

/// Rounds to the nearest integer within ±bound, ties to even.
struct Nearest {
  float bound;

  __device__ int operator()(float q) const {
    return static_cast<int>(fminf(fmaxf(rintf(q), -bound), bound));
  }
};

/// Rounds to 0 or ± a power of two up to 2^kTopRowExponent. Numbers at least half-way between two
/// powers are rounded up, by a carry into the exponent.
struct NearestPower {
  __device__ int operator()(float q) const {
    const unsigned magnitude = __float_as_uint(q) & kMagnitude;
    if (magnitude < __float_as_uint(0.5f)) return 0;
    const int exponent = static_cast<int>((magnitude + 0x00400000u) >> 23) - 127;
    const int power = 1 << min(max(exponent, 0), kTopRowExponent);
    return q < 0 ? -power : power;
  }
};

/// Packs integers of kBits bits, from element `first` on, into a word.
template <int kBits, typename Integer>
__device__ unsigned word_of(const StridedVector& x, std::int64_t first, std::int64_t k,
                            float inverse, const Integer& nearest) {
  constexpr unsigned kMask = (1u << kBits) - 1;
  unsigned word = 0;
#pragma unroll
  for (int i = 0; i < 32 / kBits; ++i) {
    if (first + i >= k) break;
    const int q = nearest(__fmul_rn(x[first + i], inverse));
    word |= (static_cast<unsigned>(q) & kMask) << (i * kBits);
  }
  return word;
}

/// The scale of a vector, as by quantization_scale(). `top`: the bits of the largest magnitude.
__device__ float scale_for(unsigned top, float given, float largest) {
  if (top >= kInfinityBits) return __uint_as_float(kNaNBits);
  if (given > 0) return given;
  const float scale = __uint_as_float(top) / largest;
  return scale < kLeastScale ? 0.0f : scale;
}

/// The scale of all vectors: in device memory, or a number; 0 for none.
struct Scale {
  const float* stored;
  float number;
};

/// A thread group for each vector.
template <int kThreads, int kBits, typename Integer>
__global__ void quantize_kernel(RowsIn x, RowVectors vectors, float largest, Scale given,
                                Integer nearest, RowsOut out) {
  start_early();
  constexpr int kInWord = 32 / kBits;
  const std::int64_t group = ThreadGroup<kThreads>::index();
  const std::int64_t r = group / vectors.per_row;
  if (r >= *vectors.rows.live) return;
  const std::int64_t number = group % vectors.per_row;
  const std::int64_t k = vectors.k;
  const std::int64_t words = (k + kInWord - 1) / kInWord;
  const float* row = row_of(x, r);
  const StridedVector from{row ? row + number * k : nullptr};
  auto* to = reinterpret_cast<unsigned*>(row_of(out, r)) + number * (1 + words);
  unsigned top = 0;
  for (std::int64_t c = ThreadGroup<kThreads>::thread_rank(); c < k; c += kThreads)
    top = MaxBits()(top, __float_as_uint(from[c]) & kMagnitude);
  top = ThreadGroup<kThreads>::reduce(top, MaxBits());
  const float scale = scale_for(top, given.stored ? *given.stored : given.number, largest);
  if (ThreadGroup<kThreads>::thread_rank() == 0) to[0] = __float_as_uint(scale);
  const bool has_integers = scale > 0;
  const float inverse = 1.0f / scale;
  for (std::int64_t w = ThreadGroup<kThreads>::thread_rank(); w < words; w += kThreads)
    to[1 + w] = has_integers ? word_of<kBits>(from, w * kInWord, k, inverse, nearest) : 0;
}

template <int kBits>
__global__ void dequantize_kernel(RowsIn x, RowVectors vectors, RowsOut out) {
  start_early();
  constexpr int kInWord = 32 / kBits;
  const std::int64_t k = vectors.k;
  const std::int64_t columns = vectors.per_row * k;
  const std::int64_t words = (k + kInWord - 1) / kInWord;
  const std::int64_t r = std::int64_t{blockIdx.x} * blockDim.y + threadIdx.y;
  if (r >= *vectors.rows.live) return;
  const auto* row = reinterpret_cast<const unsigned*>(row_of(x, r));
  float* to = row_of(out, r);
  for (std::int64_t c = std::int64_t{blockIdx.y} * blockDim.x + threadIdx.x; c < columns;
       c += std::int64_t{gridDim.y} * blockDim.x) {
    const unsigned* from = row ? row + c / k * (1 + words) : nullptr;
    const std::int64_t i = c % k;
    const unsigned word = element(from, 1 + i / kInWord) << (32 - kBits * (1 + i % kInWord));
    const int q = static_cast<int>(word) >> (32 - kBits);
    to[c] = __fmul_rn(__uint_as_float(element(from, 0)), static_cast<float>(q));
  }
}

template <typename From, typename To>
__global__ void cast_kernel(Cast cast, Rows rows, std::int64_t columns) {
  start_early();
  const auto* x = static_cast<const From*>(cast.x) + (cast.x_first ? *cast.x_first : 0) * columns;
  auto* out = static_cast<To*>(cast.out) + (cast.out_first ? *cast.out_first : 0) * columns;
  const std::int64_t size = *rows.live * columns;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < size;
       i += std::int64_t{gridDim.x} * blockDim.x)
    out[i] = rounded<To>(as_float(x[i]));
}

template <int kBits, typename Integer>
void launch_quantize(cudaStream_t stream, const RowsIn& x, const RowVectors& vectors, float largest,
                     const Scale& given, const Integer& nearest, const RowsOut& out) {
  with_group(vectors.k, [&](auto threads) {
    launch_early(stream, quantize_kernel<threads, kBits, Integer>,
                 config_for_groups<threads>(vectors.rows.max_live * vectors.per_row), x, vectors,
                 largest, given, nearest, out);
  });
}

}  // namespace

void quantize_rows(cudaStream_t stream, const Quantizer& quantizer, const float* scale,
                   const RowsIn& x, const RowVectors& vectors, const RowsOut& out) {
  const auto largest = static_cast<float>(quantizer.largest);
  const Scale given{scale, quantizer.scale};
  if (quantizer.logarithmic)
    launch_quantize<8>(stream, x, vectors, largest, given, NearestPower(), out);
  else if (quantizer.to == DType::qint8)
    launch_quantize<8>(stream, x, vectors, largest, given, Nearest{largest}, out);
  else
    launch_quantize<16>(stream, x, vectors, largest, given, Nearest{largest}, out);
}

void dequantize_rows(cudaStream_t stream, DType from, const RowsIn& x, const RowVectors& vectors,
                     const RowsOut& out) {
  const LaunchConfig config = config_for_elements(vectors.rows, vectors.per_row * vectors.k);
  launch_early(stream, from == DType::qint8 ? dequantize_kernel<8> : dequantize_kernel<16>, config,
               x, vectors, out);
}

void cast_rows(cudaStream_t stream, const Cast& cast, const Rows& rows, std::int64_t columns) {
  constexpr int kThreads = 256;
  const LaunchConfig config{.grid = dim3(blocks_for(rows.max_live * columns, kThreads)),
                            .block = dim3(kThreads)};
  const auto is = [&](DType from, DType to) { return cast.from == from && cast.to == to; };
  if (is(DType::f32, DType::bf16))
    launch_early(stream, cast_kernel<float, __nv_bfloat16>, config, cast, rows, columns);
  else if (is(DType::f32, DType::f16))
    launch_early(stream, cast_kernel<float, __half>, config, cast, rows, columns);
  else if (is(DType::bf16, DType::f32))
    launch_early(stream, cast_kernel<__nv_bfloat16, float>, config, cast, rows, columns);
  else if (is(DType::f16, DType::f32))
    launch_early(stream, cast_kernel<__half, float>, config, cast, rows, columns);
  else if (is(DType::i32, DType::f32))
    launch_early(stream, cast_kernel<std::int32_t, float>, config, cast, rows, columns);
  else
    launch_early(stream, cast_kernel<float, float>, config, cast, rows, columns);
}

}  // namespace fuselage::cuda
