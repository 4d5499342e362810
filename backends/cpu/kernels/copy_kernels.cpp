// Copies of rows, positions, and inputs.

#include <algorithm>

#include "backends/cpu/kernels/kernel_families.h"
#include "backends/cpu/simd/rows/copy.h"
#include "backends/cpu/simd/rows/sinusoid.h"
#include "fuselage/backends/cpu/runtime/make_kernel.h"
#include "fuselage/backends/cpu/runtime/operands.h"
#include "fuselage/backends/plan/refusals.h"
#include "fuselage/ops/structure/leaf.h"
#include "fuselage/ops/structure/positions.h"
#include "fuselage/ops/structure/rows.h"
#include "fuselage/ops/structure/shape.h"

namespace fuselage::cpu {
namespace {

void run_copy(const PlannedInstruction& in, const Run& run) {
  copy_rows(rows_in(in, run, 0), rows_of(in, run), cols_of(in), rows_out(in, run));
}

/// slice: copies a range of columns.
class Slice final : public Kernel {
 public:
  Slice(const PlannedInstruction&, const Binding& binding)
      : begin_(binding.node.as<op::Range>().begin) {}

  void run(const PlannedInstruction& in, const Run& run) const override {
    RowsIn x = rows_in(in, run, 0);
    x.data += begin_;
    if (x.fallback) x.fallback += begin_;
    x.columns = cols_of(in);
    copy_rows(x, rows_of(in, run), cols_of(in), rows_out(in, run));
  }

 private:
  std::int64_t begin_;
};

/// concat.
void run_concat(const PlannedInstruction& in, const Run& run) {
  RowsOut out = rows_out(in, run);
  for (std::size_t i = 0; i < in.operands.size(); ++i) {
    const auto cols = static_cast<std::size_t>(in.operands[i].cols);
    copy_rows(rows_in(in, run, i), rows_of(in, run), cols, out);
    out.data += cols;
  }
}

/// position.
void run_position(const PlannedInstruction& in, const Run& run) {
  const auto positions = run.rows.positions(in.domain);
  std::copy(positions.begin(), positions.end(), result_at<std::int32_t>(in, run));
}

class Sinusoid final : public Kernel {
 public:
  Sinusoid(const PlannedInstruction& in, const Binding&) : table_(cols_of(in)) {}

  void run(const PlannedInstruction& in, const Run& run) const override {
    table_.encode(plain_in<const std::int32_t>(in, run, 0), rows_of(in, run), rows_out(in, run));
  }

 private:
  SinusoidTable table_;
};

/// input: the caller's numbers.
class CopyInput final : public Kernel {
 public:
  CopyInput(const PlannedInstruction&, const Binding& binding)
      : index_(binding.graph.find_input(binding.node.as<op::Input>().name).value()) {}

  void run(const PlannedInstruction& in, const Run& run) const override {
    const auto numbers = run.rows.input(index_);
    std::copy(numbers.begin(), numbers.end(), result_at<float>(in, run));
  }

 private:
  std::size_t index_;
};

}  // namespace

std::span<const KernelEntry> copy_kernels() {
  using enum Reads;
  static constexpr KernelEntry kKernels[] = {
      {{.op = op::SelectRows::kName, .name = "copy_rows", .reads = {slice}, .refuse = needs_words},
       make_kernel<PlainKernel<run_copy>>},
      {{.op = op::Slice::kName, .name = "copy_rows", .reads = {view}, .refuse = needs_vector_input},
       make_kernel<Slice>},
      {{.op = op::Reshape::kName, .name = "copy_rows", .reads = {view}},
       make_kernel<PlainKernel<run_copy>>},
      {{.op = op::Concat::kName,
        .name = "copy_rows",
        .reads = all_operands(view),
        .refuse = needs_vectors},
       make_kernel<PlainKernel<run_concat>>},
      {{.op = op::Input::kName, .name = "input"}, make_kernel<CopyInput>},
      {{.op = op::Position::kName, .name = "position"}, make_kernel<PlainKernel<run_position>>},
      {{.op = op::Sinusoid::kName, .name = "sinusoid"}, make_kernel<Sinusoid>},
  };
  return kKernels;
}

}  // namespace fuselage::cpu
