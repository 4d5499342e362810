#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backends/cuda/device/output/ranked.h"
#include "backends/cuda/limits.h"

namespace fuselage::cuda {

/// Results of rows from what blocks have left of their parts.
struct Merge {
  /// Lists of k, sorted: list i of row r is number i * stride + r * row_stride.
  struct Lists {
    const Ranked* first = nullptr;
    std::int32_t count = 0;
    std::int64_t stride = 1, row_stride = 0;
  };
  /// Sums: part i of member m in row r is number i * stride + m * member_stride + r * row_stride.
  struct Sums {
    const ExpSum* first = nullptr;
    std::int32_t count = 0;
    std::int64_t stride = 1, row_stride = 0, member_stride = 0;
  };

  Rows rows;
  std::int32_t k = 0;
  RowEnd end;
  BestOut out;
  Lists lists;
  Sums sums;  ///< with end.log_softmax
  std::int32_t members = 1;
  float weights[kMaxMembers] = {1};
};

void merge_best(cudaStream_t stream, const Merge& merge);

}  // namespace fuselage::cuda
