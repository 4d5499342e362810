#include "backends/cpu/kernels/copy_kernels.h"

#include <algorithm>

#include "backends/cpu/runtime/operands.h"
#include "backends/cpu/simd/rows/copy.h"

namespace fuselage::cpu {

void run_copy(const Instruction& in, const Run& run) {
  copy_rows(rows_in(in, run, 0), rows_of(in, run), cols_of(in), rows_out(in, run));
}

/// A slice is a copy of some columns.
void bind_slice(Instruction& in, const Binding& binding) {
  in.operands[0].offset += binding.node.attr<std::int64_t>("begin");
  in.operands[0].cols = in.results[0].cols;
}

void run_concat(const Instruction& in, const Run& run) {
  RowsOut out = rows_out(in, run);
  for (std::size_t i = 0; i < in.operands.size(); ++i) {
    const auto cols = static_cast<std::size_t>(in.operands[i].cols);
    copy_rows(rows_in(in, run, i), rows_of(in, run), cols, out);
    out.data += cols;
  }
}

void run_position(const Instruction& in, const Run& run) {
  const auto positions = run.rows.positions(in.domain);
  std::copy(positions.begin(), positions.end(), result_at<std::int32_t>(in, run));
}

void run_sinusoid(const Instruction& in, const Run& run) {
  sinusoid(plain_in<const std::int32_t>(in, run, 0), rows_of(in, run), cols_of(in),
           rows_out(in, run));
}

/// Operand 0 is the initial value, operand 1 what the last iteration left.
void run_state(const Instruction& in, const Run& run) {
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

/// Operand 0 is the new value; the result is what the next iteration reads.
void run_next(const Instruction& in, const Run& run) { run_copy(in, run); }

void run_collect(const Instruction& in, const Run& run) {
  const auto index = run.rows.index(in.map);
  const RowsIn x = rows_in(in, run, 0);
  const std::size_t cols = cols_of(in);
  for (std::size_t r = 0; r < index.size(); ++r)
    std::copy_n(row_of(x, r, cols), cols, data_at<float>(in.results[0], run, index[r]));
}

void bind_collect(Instruction& in, const Binding& binding) {
  in.map = binding.graph.map_of(in.domain, MapKind::structural);
}

void run_history(const Instruction& in, const Run& run) {
  const DomainId prefix = run.plan_buffers[in.results[0].buffer].domain;
  copy_rows(rows_in(in, run, 0), rows_of(in, run), cols_of(in),
            {data_at<float>(in.results[0], run, first_row(run, prefix)),
             static_cast<std::size_t>(in.results[0].stride)});
}

}  // namespace fuselage::cpu
