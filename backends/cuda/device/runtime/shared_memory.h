#pragma once

#include <cuda_runtime.h>

namespace fuselage::cuda {

/// The dynamic shared memory of the block, aligned to 128 bytes.
template <typename T>
__device__ inline T* dynamic_shared() {
  extern __shared__ __align__(128) unsigned char fuselage_dynamic_shared[];
  return reinterpret_cast<T*>(fuselage_dynamic_shared);
}

}  // namespace fuselage::cuda
