#include "backends/cuda/device/gemm/frequent_rows.h"
#include "backends/cuda/device/gemm/gemm_operands.h"
#include "backends/cuda/device/gemm/row_dots.h"
#include "backends/cuda/device/kernel/kernel_registry.h"
#include "backends/cuda/device/kernel/operands.h"

namespace fuselage::cuda {
namespace {

/// matmul by a stored matrix.
class GemmKernel : public Kernel {
 public:
  GemmKernel(const PlannedInstruction& in, const Binding& binding) : operands_(in, binding) {}

  void launch(const PlannedInstruction& in, const Run& run) const override {
    operands_.gemm().launch(operands_.call(in, run));
  }

  std::size_t workspace_bytes(const PlannedInstruction& in,
                              const RowBounds& bounds) const override {
    return operands_.workspace_bytes(in, bounds);
  }

 private:
  GemmOperands operands_;
};

/// lookup_matmul: computes all rows, then overwrites rows that the table has. The host, which
/// chooses the size of the GEMM, does not know which rows the table lacks.
class LookupGemmKernel : public Kernel {
 public:
  LookupGemmKernel(const PlannedInstruction& in, const Binding& binding) : operands_(in, binding) {}

  void launch(const PlannedInstruction& in, const Run& run) const override {
    const Gemm::Call call = operands_.call(in, run);
    operands_.gemm().launch(call);
    const std::int64_t columns = operands_.gemm().n();
    const FrequentProducts table{.data = data_at<const float>(in.operands[2], run),
                                 .rows = in.operands[2].cols / columns,
                                 .columns = columns,
                                 .rank = in.operands.size() > 3
                                             ? data_at<const std::int32_t>(in.operands[3], run)
                                             : nullptr};
    look_up_products(run.stream, table, call.x.index, call.rows, call.out);
  }

  std::size_t workspace_bytes(const PlannedInstruction& in,
                              const RowBounds& bounds) const override {
    return operands_.workspace_bytes(in, bounds);
  }

 private:
  GemmOperands operands_;
};

/// matmul by an f32 matrix with one column.
void launch_row_dot(const PlannedInstruction& in, const Run& run) {
  row_dots(run.stream, rows_in(in, run, 0), rows_of(in, run),
           data_at<const float>(in.operands[1], run), rows_out(in, run));
}

void launch_leading_rows(const PlannedInstruction& in, const Run& run) {
  const DeviceRows::DomainRows& entries = run.rows[run.plan_buffers[in.operands[0].buffer].domain];
  const RowsIn x = all_rows(in, run, 0);
  copy_leading_rows(
      run.stream, x, {&entries.counts->rows, entries.max_rows},
      in.operands.size() > 1 ? data_at<const std::int32_t>(in.operands[1], run) : nullptr,
      cols_of(in) / x.columns, data_at<float>(in.results[0], run));
}

const RegisterKernels kGemmKernels({
    {"gemm", make_kernel<GemmKernel>},
    {"lookup_gemm", make_kernel<LookupGemmKernel>},
    {"row_dot", make_kernel<StatelessKernel<launch_row_dot>>},
    {"leading_rows", make_kernel<StatelessKernel<launch_leading_rows>>},
});

}  // namespace
}  // namespace fuselage::cuda
