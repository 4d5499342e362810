#include "backends/cuda/device/gemm/frequent_rows.h"
#include "backends/cuda/device/gemm/gemm_operands.h"
#include "backends/cuda/device/gemm/linear_kernel.h"
#include "backends/cuda/device/gemm/row_dots.h"
#include "backends/cuda/device/kernel/kernel.h"
#include "backends/cuda/device/kernel/make_kernel.h"
#include "backends/cuda/device/kernel/operands.h"

namespace fuselage::cuda {
namespace {

/// matmul with a stored matrix.
class Gemm : public Kernel {
 public:
  Gemm(const PlannedInstruction& in, const Binding& binding) : product_(in, binding) {}

  void launch(const PlannedInstruction& in, const Run& run) const override {
    product_.rows().launch(product_.call(in, run));
  }

  std::size_t workspace_bytes(const PlannedInstruction& in,
                              const RowBounds& bounds) const override {
    return product_.workspace_bytes(in, bounds);
  }

 private:
  BoundProduct product_;
};

/// lookup_matmul: computes the products of all rows, then takes those that the table has from it.
/// Which ones it lacks is not known where the size of the product is chosen: on the host.
class LookupGemm : public Kernel {
 public:
  LookupGemm(const PlannedInstruction& in, const Binding& binding) : product_(in, binding) {}

  void launch(const PlannedInstruction& in, const Run& run) const override {
    const RowProduct::Call call = product_.call(in, run);
    product_.rows().launch(call);
    const std::int64_t columns = product_.rows().n();
    const FrequentProducts table{.data = data_at<const float>(in.operands[2], run),
                                 .rows = in.operands[2].cols / columns,
                                 .columns = columns,
                                 .rank = in.operands.size() > 3
                                             ? data_at<const std::int32_t>(in.operands[3], run)
                                             : nullptr};
    take_frequent(run.stream, table, call.x.index, call.rows, call.out);
  }

  std::size_t workspace_bytes(const PlannedInstruction& in,
                              const RowBounds& bounds) const override {
    return product_.workspace_bytes(in, bounds);
  }

 private:
  BoundProduct product_;
};

/// matmul with a matrix of f32 that has one column.
void launch_row_dot(const PlannedInstruction& in, const Run& run) {
  row_dots(run.stream, rows_in(in, run, 0), rows_of(in, run),
           data_at<const float>(in.operands[1], run), rows_out(in, run));
}

void launch_leading_rows(const PlannedInstruction& in, const Run& run) {
  const DeviceRows::DomainRows& entries = run.rows[run.plan_buffers[in.operands[0].buffer].domain];
  const RowsIn x = all_rows(in, run, 0);
  copy_leading(run.stream, x, {&entries.counts->rows, entries.most_rows},
               in.operands.size() > 1 ? data_at<const std::int32_t>(in.operands[1], run) : nullptr,
               cols_of(in) / x.columns, data_at<float>(in.results[0], run));
}

constexpr KernelFactory kFactories[] = {
    {"gemm", make_kernel<Gemm>},
    {"lookup_gemm", make_kernel<LookupGemm>},
    {"gemm_elements", make_linear},
    {"row_dot", make_kernel<PlainKernel<launch_row_dot>>},
    {"leading_rows", make_kernel<PlainKernel<launch_leading_rows>>},
};

}  // namespace

std::span<const KernelFactory> product_kernels() { return kFactories; }

}  // namespace fuselage::cuda
