#include "backends/cuda/device/executor/kernel_registry.h"

namespace fuselage::cuda {

std::vector<KernelFactory> kernel_factories() {
  std::vector<KernelFactory> all;
  for (const auto factories :
       {element_kernels(), row_kernels(), normalization_kernels(), attention_kernels(),
        loop_kernels(), quantize_kernels(), product_kernels(), output_kernels()})
    all.insert(all.end(), factories.begin(), factories.end());
#ifdef FUSELAGE_CUDNN_FOUND
  all.insert(all.end(), recurrent_kernels().begin(), recurrent_kernels().end());
#endif
  return all;
}

}  // namespace fuselage::cuda
