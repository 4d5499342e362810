#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backends/cuda/device/gemm/device_weights.h"
#include "backends/cuda/device/output/k_best.h"
#include "backends/cuda/device/runtime/rows.h"

namespace fuselage::cuda {

/// The logits of the words of each row's shortlist: logits[p] is the logit of pair p. x is f32 for
/// matrices of f32, bf16 and f16, and quantized for matrices of integers. `bias` may be null.
void shortlist_logits(cudaStream_t stream, const RowsIn& x, const Rows& rows,
                      const DeviceMatrix& matrix, const float* bias, const ShortlistWords& lists,
                      float* logits);

}  // namespace fuselage::cuda
