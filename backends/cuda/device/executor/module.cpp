#include "backends/cuda/module.h"

#include "backends/cuda/device/executor/cuda_executable.h"
#include "backends/cuda/device/kernel/kernel_registry.h"
#include "backends/cuda/kernel_table.h"

extern "C" fuselage::Executable* fuselage_compile_cuda(const fuselage::Programs& programs,
                                                       fuselage::TensorMap&& weights,
                                                       const fuselage::CudaOptions& options) {
  namespace cuda = fuselage::cuda;
  const cuda::WorkerOptions worker{
      .eager = options.eager,
      .blas = {.tf32 = options.tf32, .deterministic = options.deterministic}};
  return cuda::make_cuda_executable(programs, weights, worker, cuda::cuda_kernels(),
                                    cuda::kernel_registry(), options.devices)
      .release();
}
