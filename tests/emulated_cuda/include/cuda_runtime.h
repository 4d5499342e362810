#pragma once

// The emulated CUDA: kernels are functions of the host, whose threads run one at a time. The types
// and prototypes are the toolkit's own; what nvcc would add to them is in these headers.

#include <cuda_runtime_api.h>
#include <vector_functions.h>

#undef __shared__
#undef __constant__
// One block runs at a time in a thread of the host. It finds NaN here: shared_memory/range.h.
#define __shared__ static thread_local
#define __constant__ static
#define __launch_bounds__(...)

#include "emulated_cuda/arithmetic.h"
#include "emulated_cuda/atomics.h"
#include "emulated_cuda/launch.h"
#include "emulated_cuda/threads.h"
#include "emulated_cuda/warp.h"
