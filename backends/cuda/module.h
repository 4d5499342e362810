#pragma once

#include "backends/cuda/cuda_options.h"
#include "backends/executable.h"
#include "base/tensor.h"
#include "passes/lowering/split_by_binding_time.h"

// What a program asks of the module libfuselage_cuda.so, which it loads when a GPU is asked for.
// The module is of the same build; it takes what it needs of the layers from the program, which
// exports their symbols (CMake: fuselage_hosts_module).

/// Lowers the programs to a GPU; `weights` are the model's, without the results of the load
/// program. The caller owns the result. Throws Error; exceptions pass from the module to the
/// program.
extern "C" fuselage::Executable* fuselage_compile_cuda(const fuselage::Programs& programs,
                                                       fuselage::TensorMap&& weights,
                                                       const fuselage::CudaOptions& options);
