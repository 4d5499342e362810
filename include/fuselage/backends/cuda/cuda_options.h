#pragma once

#include <vector>

#include "fuselage/base/api.h"

namespace FUSELAGE_API fuselage {

/// How a GPU computes.
struct CudaOptions {
  /// Numbers of the GPUs, as CUDA counts them. Each has the weights, and workers are divided among
  /// them; a number that occurs twice counts as two.
  std::vector<int> devices = {0};
  /// A row's products have the same bits in any batch.
  bool deterministic = false;
  /// Products of f32 by TF32: numbers with 10 bits behind the point.
  bool tf32 = false;
  /// Launch each kernel by itself, in place of recorded steps: for comparisons.
  bool eager = false;
};

}  // namespace fuselage
