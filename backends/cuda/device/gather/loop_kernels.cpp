#include "backends/cuda/device/gather/copy.h"
#include "backends/cuda/device/kernel/kernel_registry.h"
#include "backends/cuda/device/kernel/operands.h"
#include "backends/cuda/device/kernel/rounded_results.h"
#include "fuselage/ops/structure/loop.h"

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
      : hypotheses_(binding.graph.value(binding.node.operands[0]).type.domain),
        to_(binding.node.as<op::History>().to) {}

  void launch(const PlannedInstruction& in, const Run& run) const override {
    const Buffer& buffer = run.plan_buffers[in.results[0].buffer];
    const std::int32_t* first =
        buffer.newest_only ? nullptr : &run.rows[buffer.domain].counts->first;
    const Rows rows = live_rows(hypotheses_, run);
    if (is_half(to_)) {
      ResultOf<std::uint16_t> out = halves_out(in, run, 0);
      out.first = first;
      copy_rounded_rows(run.stream, rows_in(in, run, 0), rows, in.operands[0].cols,
                        {.floats = {}, .rounded = out, .is_bf16 = to_ == DType::bf16});
    } else {
      RowsOut out = rows_out(in, run);
      out.first = first;
      copy_rows(run.stream, rows_in(in, run, 0), rows, cols_of(in), out);
    }
  }

 private:
  DomainId hypotheses_;
  DType to_;
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
