// Products of rows with the columns that their shortlists name.

#include <algorithm>
#include <cstring>

#include "backends/cuda/device/gemm/integer_dots.h"
#include "backends/cuda/device/output/exp_sum.h"
#include "backends/cuda/device/output/shortlist_logits.h"
#include "backends/cuda/device/runtime/conversions.h"
#include "backends/cuda/device/runtime/launch.h"
#include "backends/cuda/device/runtime/shared_memory.h"

namespace fuselage::cuda {
namespace {

constexpr std::int32_t kWarps = 8;

// What a dot is: the products of 16 bytes of a column with as many terms of a row, which are kept
// in the form that this takes, zeros behind the last one:
//
//     Term, kNumbersOfTerm  of the row, and how many numbers are in one
//     kNumbers              in 16 bytes of a column
//     Total, add            of products, and those of 16 bytes
//     kScaled               whether rows and columns are integers with a scale

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

/// Puts a row's terms into shared memory. All threads of the block take part.
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

/// A block for each row and share of its words, a warp for one word after the other.
template <typename T, class Dot>
__global__ void __launch_bounds__(kWarps* kWarp)
    multiply_listed(RowsIn x, Rows rows, DeviceMatrix matrix, const float* bias, ListedWords lists,
                    float* logits) {
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
  const auto warp = static_cast<std::int32_t>(threadIdx.x) / kWarp;
  for (std::int32_t pair = begin + static_cast<std::int32_t>(blockIdx.y) * kWarps + warp;
       pair < end; pair += step) {
    const std::int64_t word = words[pair - begin];
    const auto* column =
        reinterpret_cast<const uint4*>(static_cast<const T*>(matrix.data) + word * matrix.stride);
    typename Dot::Total sum = 0;
    for (std::int32_t i = lane_of_thread(); i < matrix.stride / Dot::kNumbers; i += kWarp)
      Dot::add(__ldg(column + i), terms + i * (Dot::kNumbers / Dot::kNumbersOfTerm), sum);
    sum = combine_lanes<kWarp>(sum, Sum());
    float logit = 0;
    if constexpr (Dot::kScaled)
      logit = scaled(sum, matrix.scales[word], row ? row[0] : 0.0f);
    else
      logit = sum;
    if (lane_of_thread() == 0) logits[pair] = bias ? __fadd_rn(logit, bias[word]) : logit;
  }
}

template <typename T, class Dot>
void run(cudaStream_t stream, const RowsIn& x, const Rows& rows, const DeviceMatrix& matrix,
         const float* bias, const ListedWords& lists, float* logits) {
  const std::int64_t most = std::max(rows.most, 1);
  const std::int64_t share = (lists.most_pairs / most + kWarps - 1) / kWarps;
  // Rows that are fewer than keep a GPU busy are shared by several blocks.
  const auto blocks = static_cast<unsigned>(
      std::clamp<std::int64_t>(kBusyBlocks / most, 1, std::max<std::int64_t>(share, 1)));
  const auto terms = static_cast<std::size_t>(matrix.stride / Dot::kNumbersOfTerm);
  launch(stream, multiply_listed<T, Dot>,
         {dim3(static_cast<unsigned>(rows.most), blocks), dim3(kWarps * kWarp),
          terms * sizeof(typename Dot::Term)},
         x, rows, matrix, bias, lists, logits);
}

}  // namespace

void shortlist_logits(cudaStream_t stream, const RowsIn& x, const Rows& rows,
                      const DeviceMatrix& matrix, const float* bias, const ListedWords& lists,
                      float* logits) {
  switch (matrix.dtype) {
    case DType::i8:
      return run<std::int8_t, IntegerDot<std::int8_t, Bytes>>(stream, x, rows, matrix, bias, lists,
                                                              logits);
    case DType::i16:
      return run<std::int16_t, IntegerDot<std::int16_t, Shorts>>(stream, x, rows, matrix, bias,
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
