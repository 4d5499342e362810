#pragma once

#include "backends/cuda/device/runtime/ptx.h"

namespace fuselage::cuda {

/// The first statement of a kernel for launch_early(), in all threads: waits until the kernels
/// before it have ended, and lets the kernel behind it be set up meanwhile. Before it a kernel may
/// read parameters alone.
__device__ inline void start_early() {
  wait_for_earlier_kernels();
  let_next_kernel_start();
}

}  // namespace fuselage::cuda
