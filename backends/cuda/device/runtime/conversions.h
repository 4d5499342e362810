#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>

namespace fuselage::cuda {

__device__ inline float as_float(float x) { return x; }
__device__ inline float as_float(std::int32_t x) { return static_cast<float>(x); }
__device__ inline float as_float(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ inline float as_float(__half x) { return __half2float(x); }

/// The nearest T, ties to even. bfloat16 keeps the upper bits of a NaN, as float_to_bfloat16().
template <typename T>
__device__ T rounded(float x);

template <>
__device__ inline float rounded<float>(float x) {
  return x;
}
template <>
__device__ inline __half rounded<__half>(float x) {
  return __float2half_rn(x);
}
template <>
__device__ inline __nv_bfloat16 rounded<__nv_bfloat16>(float x) {
  constexpr unsigned kQuiet = 0x400000u;
  if (x == x) return __float2bfloat16_rn(x);
  return __ushort_as_bfloat16(static_cast<unsigned short>((__float_as_uint(x) | kQuiet) >> 16));
}

}  // namespace fuselage::cuda
