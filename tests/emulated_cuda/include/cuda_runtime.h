#pragma once

// The emulated CUDA: kernels are host functions, and their threads run one at a time. Types and
// prototypes are the toolkit's; these headers add what nvcc provides.

#include <cuda_runtime_api.h>
#include <vector_functions.h>

#undef __shared__
#undef __constant__
// A host thread runs one block at a time. Initially NaN: see shared_memory/range.h.
#define __shared__ static thread_local
#define __constant__ static
#undef __grid_constant__
#define __launch_bounds__(...)
#define __grid_constant__

#include "emulated_cuda/arithmetic.h"
#include "emulated_cuda/atomics.h"
#include "emulated_cuda/launch.h"
#include "emulated_cuda/threads.h"
#include "emulated_cuda/warp.h"
