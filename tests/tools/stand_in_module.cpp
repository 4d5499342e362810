// A module as a program loads it for a GPU, which runs everything on the CPU, by the program's own
// code. There are two devices.

#include <string>

#include "backends/cpu/executable.h"
#include "backends/cuda/module.h"
#include "fuselage/base/error.h"

fuselage::Executable* fuselage_compile_cuda(const fuselage::Programs& programs,
                                            fuselage::TensorMap&& weights,
                                            const fuselage::CudaOptions& options) {
  for (const int device : options.devices)
    if (device > 1) throw fuselage::Error("there is no GPU " + std::to_string(device));
  return fuselage::compile_cpu(programs, std::move(weights)).release();
}
