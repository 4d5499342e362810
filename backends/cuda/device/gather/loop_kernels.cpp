#include "backends/cuda/device/gather/copy.h"
#include "backends/cuda/device/kernel/make_kernel.h"
#include "backends/cuda/device/kernel/operands.h"

namespace fuselage::cuda {
namespace {

/// Operand 0 is the initial value, operand 1 what the last iteration left.
void run_state(const PlannedInstruction& in, const Run& run) {
  continue_rows(run.stream, rows_in(in, run, 0), all_rows(in, run, 1), run.rows[in.domain].previous,
                rows_of(in, run), cols_of(in), rows_out(in, run));
}

/// Operand 0 is the new value; the result is what the next iteration reads.
void run_next(const PlannedInstruction& in, const Run& run) {
  copy_rows(run.stream, rows_in(in, run, 0), rows_of(in, run), cols_of(in), rows_out(in, run));
}

/// Puts the rows of hypotheses behind those of earlier steps.
class AppendRows final : public Kernel {
 public:
  AppendRows(const PlannedInstruction&, const Binding& binding)
      : hypotheses_(binding.graph.value(binding.node.operands[0]).type.domain) {}

  void launch(const PlannedInstruction& in, const Run& run) const override {
    const Buffer& buffer = run.plan_buffers[in.results[0].buffer];
    RowsOut out = rows_out(in, run);
    if (!buffer.newest_only) out.first = &run.rows[buffer.domain].counts->first;
    copy_rows(run.stream, rows_in(in, run, 0), live_rows(hypotheses_, run), cols_of(in), out);
  }

 private:
  DomainId hypotheses_;
};

/// Collects the rows of a scan at their source positions.
class ScatterRows final : public Kernel {
 public:
  ScatterRows(const PlannedInstruction&, const Binding& binding)
      : scan_(binding.graph.value(binding.node.operands[0]).type.domain),
        map_(binding.graph.map_of(scan_, MapKind::structural)) {}

  void launch(const PlannedInstruction& in, const Run& run) const override {
    scatter_rows(run.stream, rows_in(in, run, 0), run.rows[map_].index, live_rows(scan_, run),
                 cols_of(in), rows_out(in, run));
  }

 private:
  DomainId scan_;
  MapId map_;
};

constexpr KernelFactory kKernels[] = {
    {"state", make_kernel<PlainKernel<run_state>>},
    {"next", make_kernel<PlainKernel<run_next>>},
    {"scatter_rows", make_kernel<ScatterRows>},
    {"append_rows", make_kernel<AppendRows>},
};

}  // namespace

std::span<const KernelFactory> loop_kernels() { return kKernels; }

}  // namespace fuselage::cuda
