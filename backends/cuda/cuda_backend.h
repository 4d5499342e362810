#pragma once

#include <memory>

#include "backends/executable.h"
#include "base/tensor.h"
#include "passes/lowering/split_by_binding_time.h"

namespace fuselage {

/// How to lower to a GPU.
struct CudaOptions {
  int device = 0;  ///< number of the GPU, as CUDA counts them
  /// A row's products have the same bits in any batch.
  bool deterministic = false;
  /// Products of f32 by TF32: numbers with 10 bits behind the point.
  bool tf32 = false;
  /// Launch each kernel by itself, in place of recorded steps: for comparisons.
  bool eager = false;
};

/// Lowers the three programs of a model to a GPU, by the module libfuselage_cuda.so: the file that
/// the environment variable FUSELAGE_CUDA_MODULE names or, without it, the one beside the running
/// program. Results of the load program are computed on the CPU. Throws Error when there is no such
/// file or it does not load, when no kernel can run some nodes, and what the module throws.
std::unique_ptr<Executable> compile_cuda(const Programs& programs, TensorMap weights,
                                         const CudaOptions& options = {});

}  // namespace fuselage
