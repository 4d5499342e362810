#include "backends/cuda/device/gemm/quantize.h"
#include "backends/cuda/device/runtime/conversions.h"
#include "backends/cuda/device/runtime/launch_shapes.h"
#include "backends/cuda/device/runtime/numbers.h"
#include "backends/cuda/device/runtime/thread_group.h"

namespace fuselage::cuda {
namespace {

// The bits of magnitudes have the order of these, with infinities and NaN above all numbers.
constexpr unsigned kMagnitude = 0x7fffffffu;
constexpr unsigned kInfinityBits = 0x7f800000u;
constexpr unsigned kNaNBits = 0x7fc00000u;

struct LargerBits {
  __device__ unsigned operator()(unsigned a, unsigned b) const { return a > b ? a : b; }
};

/// To the nearest integer within ±bound, ties to even.
struct Nearest {
  float bound;

  __device__ int operator()(float q) const {
    return static_cast<int>(fminf(fmaxf(rintf(q), -bound), bound));
  }
};

/// To 0 or ± a power of two of up to 2^kTopRowExponent. What is at least half way between two of
/// them goes to the larger one, which is a carry into the exponent.
struct NearestPower {
  __device__ int operator()(float q) const {
    const unsigned magnitude = __float_as_uint(q) & kMagnitude;
    if (magnitude < __float_as_uint(0.5f)) return 0;
    const int exponent = static_cast<int>((magnitude + 0x00400000u) >> 23) - 127;
    const int power = 1 << min(max(exponent, 0), kTopRowExponent);
    return q < 0 ? -power : power;
  }
};

/// kBits of each of some integers in the place where they lie in a word.
template <int kBits, typename Integer>
__device__ unsigned word_of(const Numbers& x, std::int64_t first, std::int64_t k, float inverse,
                            const Integer& nearest) {
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

/// The scale for numbers whose largest magnitude has these bits; as quantization_scale().
__device__ float scale_for(unsigned top, float given, float largest) {
  if (top >= kInfinityBits) return __uint_as_float(kNaNBits);
  if (given > 0) return given;
  const float scale = __uint_as_float(top) / largest;
  return scale < kLeastScale ? 0.0f : scale;
}

/// A team for each vector.
template <int kThreads, int kBits, typename Integer>
__global__ void quantize_kernel(RowsIn x, RowVectors vectors, float largest, const float* given,
                                Integer nearest, RowsOut out) {
  constexpr int kInWord = 32 / kBits;
  const std::int64_t team = RowTeam<kThreads>::number();
  const std::int64_t r = team / vectors.in_a_row;
  if (r >= *vectors.rows.live) return;
  const std::int64_t number = team % vectors.in_a_row;
  const std::int64_t k = vectors.k;
  const std::int64_t words = (k + kInWord - 1) / kInWord;
  const float* row = row_of(x, r);
  const Numbers from{row ? row + number * k : nullptr};
  auto* to = reinterpret_cast<unsigned*>(row_of(out, r)) + number * (1 + words);
  unsigned top = 0;
  for (std::int64_t c = RowTeam<kThreads>::lane(); c < k; c += kThreads)
    top = LargerBits()(top, __float_as_uint(from[c]) & kMagnitude);
  top = RowTeam<kThreads>::all(top, LargerBits());
  const float scale = scale_for(top, given ? *given : 0.0f, largest);
  if (RowTeam<kThreads>::lane() == 0) to[0] = __float_as_uint(scale);
  const bool has_integers = scale > 0;
  const float inverse = 1.0f / scale;
  for (std::int64_t w = RowTeam<kThreads>::lane(); w < words; w += kThreads)
    to[1 + w] = has_integers ? word_of<kBits>(from, w * kInWord, k, inverse, nearest) : 0;
}

template <int kBits>
__global__ void dequantize_kernel(RowsIn x, RowVectors vectors, RowsOut out) {
  constexpr int kInWord = 32 / kBits;
  const std::int64_t k = vectors.k;
  const std::int64_t columns = vectors.in_a_row * k;
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
  const auto* x = static_cast<const From*>(cast.x) + (cast.x_first ? *cast.x_first : 0) * columns;
  auto* out = static_cast<To*>(cast.out) + (cast.out_first ? *cast.out_first : 0) * columns;
  const std::int64_t size = *rows.live * columns;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < size;
       i += std::int64_t{gridDim.x} * blockDim.x)
    out[i] = rounded<To>(as_float(x[i]));
}

template <int kBits, typename Integer>
void launch_quantize(cudaStream_t stream, const RowsIn& x, const RowVectors& vectors, float largest,
                     const float* given, const Integer& nearest, const RowsOut& out) {
  with_team(vectors.k, [&](auto threads) {
    launch(stream, quantize_kernel<threads, kBits, Integer>,
           spread_teams<threads>(vectors.rows.most * vectors.in_a_row), x, vectors, largest, given,
           nearest, out);
  });
}

}  // namespace

void quantize_rows(cudaStream_t stream, const Quantizer& quantizer, const float* scale,
                   const RowsIn& x, const RowVectors& vectors, const RowsOut& out) {
  const auto largest = static_cast<float>(quantizer.largest);
  if (quantizer.logarithmic)
    launch_quantize<8>(stream, x, vectors, largest, scale, NearestPower(), out);
  else if (quantizer.to == DType::qint8)
    launch_quantize<8>(stream, x, vectors, largest, scale, Nearest{largest}, out);
  else
    launch_quantize<16>(stream, x, vectors, largest, scale, Nearest{largest}, out);
}

void dequantize_rows(cudaStream_t stream, DType from, const RowsIn& x, const RowVectors& vectors,
                     const RowsOut& out) {
  const Spread spread = spread_over(vectors.rows, vectors.in_a_row * vectors.k);
  launch(stream, from == DType::qint8 ? dequantize_kernel<8> : dequantize_kernel<16>, spread, x,
         vectors, out);
}

void cast_rows(cudaStream_t stream, const Cast& cast, const Rows& rows, std::int64_t columns) {
  constexpr int kThreads = 256;
  const Spread spread{.grid = dim3(blocks_for(rows.most * columns, kThreads)),
                      .block = dim3(kThreads)};
  const auto is = [&](DType from, DType to) { return cast.from == from && cast.to == to; };
  if (is(DType::f32, DType::bf16))
    launch(stream, cast_kernel<float, __nv_bfloat16>, spread, cast, rows, columns);
  else if (is(DType::f32, DType::f16))
    launch(stream, cast_kernel<float, __half>, spread, cast, rows, columns);
  else if (is(DType::bf16, DType::f32))
    launch(stream, cast_kernel<__nv_bfloat16, float>, spread, cast, rows, columns);
  else if (is(DType::f16, DType::f32))
    launch(stream, cast_kernel<__half, float>, spread, cast, rows, columns);
  else
    launch(stream, cast_kernel<float, float>, spread, cast, rows, columns);
}

}  // namespace fuselage::cuda
