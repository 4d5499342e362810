#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>

#include "backends/cuda/device/output/exp_sum.h"
#include "backends/cuda/device/output/ranked.h"
#include "backends/cuda/device/output/warp_best.h"

namespace fuselage::cuda {

/// Adds a member of the sum that rows are ranked by. Not contracted, as reference kernels do not.
__device__ inline void add_member(RowEnd& end, const ExpSum& sum, float weight) {
  end.tops = __fadd_rn(end.tops, __fmul_rn(weight, sum.top));
  end.logs = __fadd_rn(end.logs, __fmul_rn(weight, logf(sum.sum)));
}

/// Writes row r of the results from what a warp has kept. As log-probabilities: first the largest
/// logit and then the logarithm is subtracted, since their sum would round it away beside a large
/// logit. In a row that has no probabilities, all -infinity or some NaN or infinity, no column is
/// better than another: it gets the first ones, with -infinity.
template <std::int32_t kSlots>
__device__ void write_best(const WarpBest<kSlots>& best, const RowEnd& end, const BestOut& out,
                           std::int64_t r) {
  const bool none = end.log_softmax && !std::isfinite(end.tops + end.logs);
  float* values = row_of(out.values, r);
  std::int32_t* ids = row_of(out.ids, r);
  best.for_each([&](std::int32_t rank, const Ranked& ranked) {
    float value = ranked.value;
    if (end.log_softmax) value = none ? kLowest : value - end.tops - end.logs;
    std::int32_t column = none ? rank : ranked.column;
    if (column >= end.columns) column = -1;
    values[rank] = value;
    ids[rank] = column >= 0 && end.words ? end.words[column] : column;
  });
}

}  // namespace fuselage::cuda
