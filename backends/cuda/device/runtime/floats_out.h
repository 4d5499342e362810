#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "backends/cuda/device/runtime/rows.h"

namespace fuselage::cuda {

/// A result as floats, rounded to 16 bits, or both. Parts that nothing reads have no data.
struct FloatsOut {
  RowsOut floats;
  ResultOf<std::uint16_t> rounded;
  bool is_bf16 = true;  ///< of `rounded`; else f16
};

}  // namespace fuselage::cuda
