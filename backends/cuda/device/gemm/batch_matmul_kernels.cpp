#include "backends/cuda/device/gemm/batch_matmul.h"
#include "backends/cuda/device/kernel/kernel_registry.h"
#include "backends/cuda/device/kernel/operands.h"

namespace fuselage::cuda {
namespace {

class BatchMatmul final : public Kernel {
 public:
  BatchMatmul(const PlannedInstruction&, const Binding& binding)
      : shape_(batch_matmul_shape(binding.graph, binding.node)) {}

  void launch(const PlannedInstruction& in, const Run& run) const override {
    batch_matmul(run.stream, rows_in(in, run, 0), rows_in(in, run, 1), shape_, rows_of(in, run),
                 rows_out(in, run));
  }

 private:
  BatchMatmulShape shape_;
};

const RegisterKernels kBatchMatmulKernels({{"batch_matmul", make_kernel<BatchMatmul>}});

}  // namespace
}  // namespace fuselage::cuda
