#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backends/cuda/device/gemm/device_weights.h"
#include "backends/cuda/device/output/k_best.h"
#include "backends/cuda/device/runtime/rows.h"

namespace fuselage::cuda {

/// The logits of the words of each row's shortlist: element p of `logits` is that of pair p. Rows
/// of f32 go with matrices of f32, bf16 and f16, quantized ones with integers of their type. `bias`
/// may be null.
void shortlist_logits(cudaStream_t stream, const RowsIn& x, const Rows& rows,
                      const DeviceMatrix& matrix, const float* bias, const ListedWords& lists,
                      float* logits);

}  // namespace fuselage::cuda
