#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>

#include "backends/cuda/device/output/block_best.h"
#include "backends/cuda/device/output/k_best.h"
#include "backends/cuda/device/output/softmax_normalizer.h"
#include "backends/cuda/limits.h"

namespace fuselage::cuda {

// The last step of output layers: a row's k best and normalizers become its results.

/// The parameters that turn the k best of a row into results.
struct KBestEpilogue {
  bool log_softmax = false;
  std::int32_t columns = 0;
  const std::int32_t* words = nullptr;  ///< the id of each column; null: its number
  float max = 0;                        ///< weighted sum of the members' largest logits
  float log_sum = 0;  ///< weighted sum of the logarithms of the members' sums of exponentials
};

/// Adds a member of an ensemble. Without contraction, as in reference kernels.
__device__ inline void add_member(KBestEpilogue& epilogue, const SoftmaxNormalizer& normalizer,
                                  float weight) {
  epilogue.max = __fadd_rn(epilogue.max, __fmul_rn(weight, normalizer.max));
  epilogue.log_sum = __fadd_rn(epilogue.log_sum, __fmul_rn(weight, logf(normalizer.sum)));
}

/// Writes row r of the results from its k best, by a warp. Log-probabilities subtract the largest
/// logit, then the logarithm, since their sum would round the logarithm away. A row without
/// probabilities (all -infinity, or some NaN or infinity) gets the first k columns, with -infinity.
__device__ inline void write_best(const BlockBest& best, const KBestEpilogue& epilogue,
                                  const BestOut& out, std::int64_t r) {
  const bool none = epilogue.log_softmax && !std::isfinite(epilogue.max + epilogue.log_sum);
  if (out.log_sums.data != nullptr && lane_id() == 0)
    *row_of(out.log_sums, r) = epilogue.max + epilogue.log_sum;
  float* values = row_of(out.values, r);
  std::int32_t* ids = row_of(out.ids, r);
  for (std::int32_t rank = lane_id(); rank < best.k; rank += kWarpSize) {
    const Ranked ranked = best.sorted[rank];
    float value = ranked.value;
    if (epilogue.log_softmax) value = none ? kLowest : value - epilogue.max - epilogue.log_sum;
    std::int32_t column = none ? rank : ranked.column;
    if (column >= epilogue.columns) column = -1;
    values[rank] = value;
    ids[rank] = column >= 0 && epilogue.words ? epilogue.words[column] : column;
  }
}

/// The partial results of several blocks per row.
struct KBestParts {
  /// Lists of k entries, `count` for each row, one after the other.
  struct Lists {
    const Ranked* first = nullptr;
    std::int32_t count = 0;
  };
  /// Part i of member m in row r is number i * stride + m * member_stride + r * row_stride.
  struct Normalizers {
    const SoftmaxNormalizer* first = nullptr;
    std::int32_t count = 0;
    std::int64_t stride = 1, row_stride = 0, member_stride = 0;
  };

  Rows rows;
  std::int32_t k = 0;
  KBestEpilogue epilogue;
  BestOut out;
  Lists lists;
  Normalizers normalizers;  ///< only with epilogue.log_softmax
  std::int32_t members = 1;
  float weights[kMaxMembers] = {1};
};

/// Merges partial results and writes the results of all rows.
void merge_k_best(cudaStream_t stream, const KBestParts& parts);

}  // namespace fuselage::cuda
