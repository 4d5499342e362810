#pragma once

#include "backends/cuda/device/runtime/conversions.h"
#include "backends/cuda/device/runtime/floats_out.h"

namespace fuselage::cuda {

/// A row of a FloatsOut.
struct FloatRow {
  float* floats;
  std::uint16_t* rounded;
  bool is_bf16;

  __device__ void put(std::int64_t c, float x) const {
    if (floats) floats[c] = x;
    if (!rounded) return;
    rounded[c] = is_bf16 ? __bfloat16_as_ushort(cuda::rounded<__nv_bfloat16>(x))
                         : __half_as_ushort(cuda::rounded<__half>(x));
  }
};

__device__ inline FloatRow row_of(const FloatsOut& out, std::int64_t r) {
  return {out.floats.data ? row_of(out.floats, r) : nullptr,
          out.rounded.data ? row_of(out.rounded, r) : nullptr, out.is_bf16};
}

}  // namespace fuselage::cuda
