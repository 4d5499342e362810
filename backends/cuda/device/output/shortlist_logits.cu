// Dot products of rows with the columns of their shortlists.

#include <algorithm>
#include <cstring>

#include "backends/cuda/device/output/shortlist_logits.h"
#include "backends/cuda/device/output/softmax_normalizer.h"
#include "backends/cuda/device/runtime/conversions.h"
#include "backends/cuda/device/runtime/dot_products.h"
#include "backends/cuda/device/runtime/early_start.h"
#include "backends/cuda/device/runtime/launch.h"
#include "backends/cuda/device/runtime/shared_memory.h"

namespace fuselage::cuda {
namespace {

constexpr std::int32_t kWarps = 8;

// A Dot class multiplies 16 bytes of a column by terms of a row, which is kept in shared memory and
// padded with zeros:
//
//     Term      element of a row in shared memory; kNumbersOfTerm numbers
//     kNumbers  numbers in 16 bytes of a column
//     Total     type of the sum
//     add       adds the products of 16 bytes
//     kScaled   whether rows and columns are integers with a scale

template <typename T>
struct RealDot {
  using Term = float;
  using Total = float;
  static constexpr std::int32_t kNumbers = 16 / sizeof(T);
  static constexpr std::int32_t kNumbersOfTerm = 1;
  static constexpr bool kScaled = false;

  static __device__ void add(const uint4& column, const Term* row, Total& sum) {
    T numbers[kNumbers];
    memcpy(static_cast<void*>(numbers), &column, sizeof numbers);
#pragma unroll
    for (std::int32_t i = 0; i < kNumbers; ++i) sum += as_float(numbers[i]) * row[i];
  }
};

template <typename T, class Words>
struct IntegerDot {
  using Term = std::int32_t;
  using Total = std::int32_t;
  static constexpr std::int32_t kNumbers = 16 / sizeof(T);
  static constexpr std::int32_t kNumbersOfTerm = Words::kPerWord;
  static constexpr bool kScaled = true;

  static __device__ void add(const uint4& column, const Term* row, Total& sum) {
    std::int32_t words[4];
    memcpy(words, &column, sizeof words);
#pragma unroll
    for (std::int32_t i = 0; i < 4; ++i) sum = Words::dot(words[i], row[i], sum);
  }
};

/// Loads a row's terms to shared memory. All threads of the block must call it.
template <class Dot>
__device__ void load_row(const float* row, const DeviceMatrix& matrix, typename Dot::Term* terms) {
  const auto count = static_cast<std::int32_t>(matrix.stride / Dot::kNumbersOfTerm);
  const auto* numbers = reinterpret_cast<const typename Dot::Term*>(row);
  if (row && Dot::kScaled) ++numbers;
  for (auto i = static_cast<std::int32_t>(threadIdx.x); i < count;
       i += static_cast<std::int32_t>(blockDim.x)) {
    const std::int64_t left = matrix.k - std::int64_t{i} * Dot::kNumbersOfTerm;
    terms[i] = row && left > 0 ? numbers[i] : typename Dot::Term{};
  }
  __syncthreads();
}

/// Blocks in x for rows, and in y for parts of a row's words. Each warp computes one word at a
/// time.
template <typename T, class Dot>
__global__ void __launch_bounds__(kWarps* kWarpSize)
    shortlist_logits_kernel(RowsIn x, Rows rows, DeviceMatrix matrix, const float* bias,
                            ShortlistWords lists, float* logits) {
  start_early();
  const std::int64_t r = blockIdx.x;
  if (r >= *rows.live) return;
  const std::int32_t begin = lists.pairs.begin[r];
  const std::int32_t end = lists.pairs.begin[r + 1];
  if (begin == end) return;
  auto* terms = dynamic_shared<typename Dot::Term>();
  const float* row = row_of(x, r);
  load_row<Dot>(row, matrix, terms);
  const std::int32_t* words = lists.words + lists.right[begin];
  const auto step = static_cast<std::int32_t>(gridDim.y) * kWarps;
  const auto warp = static_cast<std::int32_t>(threadIdx.x) / kWarpSize;
  for (std::int32_t pair = begin + static_cast<std::int32_t>(blockIdx.y) * kWarps + warp;
       pair < end; pair += step) {
    const std::int64_t word = words[pair - begin];
    const auto* column =
        reinterpret_cast<const uint4*>(static_cast<const T*>(matrix.data) + word * matrix.stride);
    typename Dot::Total sum = 0;
    for (std::int32_t i = lane_id(); i < matrix.stride / Dot::kNumbers; i += kWarpSize)
      Dot::add(__ldg(column + i), terms + i * (Dot::kNumbers / Dot::kNumbersOfTerm), sum);
    sum = reduce_lanes<kWarpSize>(sum, Sum());
    float logit = 0;
    if constexpr (Dot::kScaled)
      logit = scaled(sum, matrix.scales[word], row ? row[0] : 0.0f);
    else
      logit = sum;
    if (lane_id() == 0) logits[pair] = bias ? __fadd_rn(logit, bias[word]) : logit;
  }
}

template <typename T, class Dot>
void run(cudaStream_t stream, const RowsIn& x, const Rows& rows, const DeviceMatrix& matrix,
         const float* bias, const ShortlistWords& lists, float* logits) {
  const std::int64_t max_rows = std::max(rows.max_live, 1);
  const std::int64_t max_blocks = (lists.max_pairs / max_rows + kWarps - 1) / kWarps;
  // Several blocks per row where rows alone do not saturate the GPU.
  const auto blocks = static_cast<unsigned>(std::clamp<std::int64_t>(
      kSaturatingBlocks / max_rows, 1, std::max<std::int64_t>(max_blocks, 1)));
  const auto terms = static_cast<std::size_t>(matrix.stride / Dot::kNumbersOfTerm);
  launch_early(stream, shortlist_logits_kernel<T, Dot>,
               {dim3(static_cast<unsigned>(rows.max_live), blocks), dim3(kWarps * kWarpSize),
                terms * sizeof(typename Dot::Term)},
               x, rows, matrix, bias, lists, logits);
}

}  // namespace

void shortlist_logits(cudaStream_t stream, const RowsIn& x, const Rows& rows,
                      const DeviceMatrix& matrix, const float* bias, const ShortlistWords& lists,
                      float* logits) {
  switch (matrix.dtype) {
    case DType::i8:
      return run<std::int8_t, IntegerDot<std::int8_t, PackedInt8>>(stream, x, rows, matrix, bias,
                                                                   lists, logits);
    case DType::i16:
      return run<std::int16_t, IntegerDot<std::int16_t, PackedInt16>>(stream, x, rows, matrix, bias,
                                                                      lists, logits);
    case DType::bf16:
      return run<__nv_bfloat16, RealDot<__nv_bfloat16>>(stream, x, rows, matrix, bias, lists,
                                                        logits);
    case DType::f16:
      return run<__half, RealDot<__half>>(stream, x, rows, matrix, bias, lists, logits);
    default:
      return run<float, RealDot<float>>(stream, x, rows, matrix, bias, lists, logits);
  }
}

}  // namespace fuselage::cuda
