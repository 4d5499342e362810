#pragma once

#include "base/exported.h"
#include "fuselage/backends/cuda/cuda_options.h"
#include "fuselage/backends/executable.h"
#include "fuselage/base/tensor.h"
#include "fuselage/passes/lowering/split_by_binding_time.h"

// The interface of the module libfuselage_cuda.so, which a program loads when a GPU is requested.
// Module and program must be of the same build: the module uses the symbols of the library
// (base/exported.h), or of a program that links the layers statically (CMake:
// fuselage_hosts_module).

/// Lowers the programs to a GPU. `weights` are the model's, without the results of the load
/// program. The caller owns the result. Exceptions (Error) pass from the module to the program.
extern "C" FUSELAGE_EXPORTED fuselage::Executable* fuselage_compile_cuda(
    const fuselage::Programs& programs, fuselage::TensorMap&& weights,
    const fuselage::CudaOptions& options);
