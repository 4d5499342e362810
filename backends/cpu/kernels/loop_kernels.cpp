// Loop ops: carried values, and collections of the rows of all iterations.

#include <algorithm>

#include "backends/cpu/kernels/kernel_families.h"
#include "backends/cpu/simd/rows/copy.h"
#include "fuselage/backends/cpu/runtime/make_kernel.h"
#include "fuselage/backends/cpu/runtime/operands.h"
#include "fuselage/backends/plan/refusals.h"
#include "fuselage/ops/structure/loop.h"

namespace fuselage::cpu {
namespace {

/// Operand 0 is the initial value, operand 1 the carried value.
void run_state(const PlannedInstruction& in, const Run& run) {
  const auto previous = run.rows.previous(in.domain);
  const RowsIn init = rows_in(in, run, 0);
  const BufferView& carried = in.operands[1];
  const float* last = reinterpret_cast<const float*>(run.buffers[carried.buffer]) + carried.offset;
  const std::size_t cols = cols_of(in);
  for (std::size_t r = 0; r < previous.size(); ++r) {
    const float* from =
        previous[r] >= 0 ? last + previous[r] * carried.stride : row_of(init, r, cols);
    std::copy_n(from, cols, result_at(in, run) + r * cols);
  }
}

/// Operand 0 is the new value; the result is the carried value.
void run_next(const PlannedInstruction& in, const Run& run) {
  copy_rows(rows_in(in, run, 0), rows_of(in, run), cols_of(in), rows_out(in, run));
}

/// Writes the rows of an iteration to their source positions.
class Collect final : public Kernel {
 public:
  Collect(const PlannedInstruction& in, const Binding& binding)
      : map_(binding.graph.map_of(in.domain, MapKind::structural)) {}

  void run(const PlannedInstruction& in, const Run& run) const override {
    const auto index = run.rows.index(map_);
    const RowsIn x = rows_in(in, run, 0);
    const std::size_t cols = cols_of(in);
    for (std::size_t r = 0; r < index.size(); ++r)
      std::copy_n(row_of(x, r, cols), cols, data_at<float>(in.results[0], run, index[r]));
  }

 private:
  MapId map_;
};

/// Appends the rows of a step to the rows of earlier steps.
void run_history(const PlannedInstruction& in, const Run& run) {
  const DomainId prefix = domain_of(in.results[0], run);
  copy_rows(rows_in(in, run, 0), rows_of(in, run), cols_of(in),
            {data_at<float>(in.results[0], run, first_row(run, prefix)),
             static_cast<std::size_t>(in.results[0].stride)});
}

std::string refuse_history(const Graph& graph, const Node& node) {
  if (is_half(node.as<op::History>().to)) return "it rounds no rows to 16 bits";
  return needs_f32(graph, node);
}

}  // namespace

std::span<const KernelEntry> loop_kernels() {
  using enum Reads;
  static constexpr KernelEntry kKernels[] = {
      {{.op = op::State::kName, .name = "state", .refuse = needs_f32},
       make_kernel<PlainKernel<run_state>>},
      {{.op = op::Next::kName, .name = "next", .reads = all_operands(view), .refuse = needs_f32},
       make_kernel<PlainKernel<run_next>>},
      {{.op = op::Collect::kName, .name = "scatter_rows", .reads = {view}, .refuse = needs_f32},
       make_kernel<Collect>},
      {{.op = op::History::kName, .name = "append_rows", .reads = {view}, .refuse = refuse_history},
       make_kernel<PlainKernel<run_history>>},
  };
  return kKernels;
}

}  // namespace fuselage::cpu
