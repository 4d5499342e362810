#pragma once

// The prelude of kernels that are compiled at run time, kept small for speed.

#include <vector_functions.h>

#undef __shared__
#define __shared__ static thread_local
#define __launch_bounds__(...)

#include "emulated_cuda/arithmetic.h"
#include "emulated_cuda/threads.h"
#include "emulated_cuda/warp.h"

#define FUSELAGE_START_EARLY() emulated_cuda::wait_for_earlier_kernels()
