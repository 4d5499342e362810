#include "backends/cuda/device/gather/copy.h"
#include "backends/cuda/device/kernel/kernel_registry.h"
#include "backends/cuda/device/kernel/operands.h"

namespace fuselage::cuda {
namespace {

/// Operand 0 is the initial value, operand 1 the value of the last iteration.
void run_state(const PlannedInstruction& in, const Run& run) {
  continue_rows(run.stream, rows_in(in, run, 0), all_rows(in, run, 1), run.rows[in.domain].previous,
                rows_of(in, run), cols_of(in), rows_out(in, run));
}

/// Copies the new value, operand 0, to the buffer that the next iteration reads.
void run_next(const PlannedInstruction& in, const Run& run) {
  copy_rows(run.stream, rows_in(in, run, 0), rows_of(in, run), cols_of(in), rows_out(in, run));
}

/// history: appends the rows of hypotheses to the rows of earlier steps.
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

/// collect: copies the rows of a scan to their source positions.
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

const RegisterKernels kLoopKernels({
    {"state", make_kernel<StatelessKernel<run_state>>},
    {"next", make_kernel<StatelessKernel<run_next>>},
    {"scatter_rows", make_kernel<ScatterRows>},
    {"append_rows", make_kernel<AppendRows>},
});

}  // namespace
}  // namespace fuselage::cuda
