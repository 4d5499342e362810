// Products of the matrices in the rows of two values.

#include "backends/cpu/kernels/kernel_families.h"
#include "backends/cpu/simd/table.h"
#include "fuselage/backends/cpu/runtime/make_kernel.h"
#include "fuselage/backends/cpu/runtime/operands.h"
#include "fuselage/ops/arithmetic/batch_matmul.h"

namespace fuselage::cpu {
namespace {

class BatchMatmul final : public Kernel {
 public:
  BatchMatmul(const PlannedInstruction&, const Binding& binding)
      : shape_(batch_matmul_shape(binding.graph, binding.node)) {}

  void run(const PlannedInstruction& in, const Run& run) const override {
    run.kernels.batch_matmul(rows_in(in, run, 0), rows_in(in, run, 1), shape_, rows_of(in, run),
                             rows_out(in, run));
  }

 private:
  BatchMatmulShape shape_;
};

}  // namespace

std::span<const KernelEntry> batch_matmul_kernels() {
  using enum Reads;
  static constexpr KernelEntry kKernels[] = {
      {{.op = op::BatchMatmul::kName, .name = "batch_matmul", .reads = {view, view}},
       make_kernel<BatchMatmul>},
  };
  return kKernels;
}

}  // namespace fuselage::cpu
