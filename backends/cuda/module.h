#pragma once

#include "backends/cuda/cuda_options.h"
#include "backends/executable.h"
#include "base/tensor.h"
#include "passes/lowering/split_by_binding_time.h"

// The interface of the module libfuselage_cuda.so, which a program loads when a GPU is requested.
// Module and program must be of the same build: the module uses the program's symbols of the layers
// (CMake: fuselage_hosts_module).

/// Lowers the programs to a GPU. `weights` are the model's, without the results of the load
/// program. The caller owns the result. Exceptions (Error) pass from the module to the program.
extern "C" fuselage::Executable* fuselage_compile_cuda(const fuselage::Programs& programs,
                                                       fuselage::TensorMap&& weights,
                                                       const fuselage::CudaOptions& options);
