#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>

#include "backends/cuda/device/output/hopper_output.h"
#include "backends/cuda/device/output/ranked.h"
#include "backends/cuda/device/runtime/rows.h"
#include "fuselage/base/dtype.h"

namespace fuselage::cuda {

/// The parameters of a launch of hopper_output.cu.
struct HopperLayer {
  CUtensorMap x, matrix;  ///< tiles of the block's rows, and of kHopperColumns columns
  Rows rows;
  std::int32_t max_rows = 0, columns = 0, tiles = 0, slabs = 0, stages = 0, k = 0, spans = 1;
  bool log_softmax = false;
  const float* bias = nullptr;
  SoftmaxNormalizer* normalizers = nullptr;  ///< [tile][row]
  Ranked* lists = nullptr;                   ///< [row][span][group][k]
};

/// Leaves normalizers and lists for merge_k_best().
void launch_hopper_layer(cudaStream_t stream, const HopperShape& shape, DType dtype,
                         const HopperLayer& layer);

}  // namespace fuselage::cuda
