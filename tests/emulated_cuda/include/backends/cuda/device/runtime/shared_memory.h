#pragma once

#include "emulated_cuda/threads.h"

namespace fuselage::cuda {

template <typename T>
T* dynamic_shared() {
  return static_cast<T*>(emulated_cuda::dynamic_shared_memory());
}

}  // namespace fuselage::cuda
