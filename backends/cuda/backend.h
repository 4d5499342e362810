#pragma once

#include "fuselage/backends/backend.h"

namespace fuselage {

/// The back-end for NVIDIA GPUs. It plans on any machine. To compile it loads the module
/// libfuselage_cuda.so: the file that the environment variable FUSELAGE_CUDA_MODULE names or,
/// without it, the one beside the running program. The load program runs on the CPU. compile()
/// throws Error when there is no such file or it does not load, when no kernel can run some nodes,
/// and what the module throws.
const Backend& cuda_backend();

}  // namespace fuselage
