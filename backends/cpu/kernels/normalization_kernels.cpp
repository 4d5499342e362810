// Softmax and normalization.

#include "backends/cpu/kernels/kernel_families.h"
#include "backends/cpu/kernels/quantized_results.h"
#include "backends/cpu/simd/table.h"
#include "fuselage/backends/cpu/runtime/make_kernel.h"
#include "fuselage/backends/cpu/runtime/operands.h"
#include "fuselage/backends/plan/refusals.h"
#include "fuselage/ops/fused.h"
#include "fuselage/ops/normalization.h"
#include "fuselage/ops/softmax.h"

namespace fuselage::cpu {
namespace {

void run_softmax(const PlannedInstruction& in, const Run& run) {
  run.kernels.softmax(rows_in(in, run, 0), rows_of(in, run), cols_of(in), rows_out(in, run));
}

void run_log_softmax(const PlannedInstruction& in, const Run& run) {
  run.kernels.log_softmax(rows_in(in, run, 0), rows_of(in, run), cols_of(in), rows_out(in, run));
}

void run_log_sum_exp(const PlannedInstruction& in, const Run& run) {
  run.kernels.log_sum_exp(rows_in(in, run, 0), rows_of(in, run),
                          static_cast<std::size_t>(in.operands[0].cols), rows_out(in, run));
}

/// A normalization with gain as operand kGain and an optional bias as the next operand.
template <std::size_t kGain>
class Norm : public Kernel {
 public:
  Norm(const PlannedInstruction&, const Binding& binding)
      : epsilon_(static_cast<float>(binding.node.as<op::Epsilon>().epsilon)) {}

 protected:
  static const float* gain(const PlannedInstruction& in, const Run& run) {
    return plain_in<const float>(in, run, kGain);
  }
  static const float* bias(const PlannedInstruction& in, const Run& run) {
    return in.operands.size() > kGain + 1 ? plain_in<const float>(in, run, kGain + 1) : nullptr;
  }
  float epsilon() const { return epsilon_; }

 private:
  float epsilon_;
};

class LayerNorm final : public Norm<1> {
 public:
  using Norm::Norm;
  void run(const PlannedInstruction& in, const Run& run) const override {
    run.kernels.layer_norm(rows_in(in, run, 0), gain(in, run), bias(in, run), epsilon(),
                           rows_of(in, run), cols_of(in), rows_out(in, run));
  }
};

class RmsNorm final : public Norm<1> {
 public:
  using Norm::Norm;
  void run(const PlannedInstruction& in, const Run& run) const override {
    run.kernels.rms_norm(rows_in(in, run, 0), gain(in, run), epsilon(), rows_of(in, run),
                         cols_of(in), rows_out(in, run));
  }
};

/// Row by row, so that the sum is still in the cache when it is normalized.
class AddLayerNorm final : public Norm<2> {
 public:
  AddLayerNorm(const PlannedInstruction& in, const Binding& binding)
      : Norm(in, binding), quantized_(in, binding) {}

  void run(const PlannedInstruction& in, const Run& run) const override {
    const RowsIn a = rows_in(in, run, 0);
    const RowsIn b = rows_in(in, run, 1);
    const std::size_t cols = cols_of(in);
    const BinaryRow add = run.kernels.binary_row(Binary::add, a.columns != cols, b.columns != cols);
    const RowsOut norm = rows_out(in, run, 0);
    const RowsOut sum = rows_out(in, run, 1);
    for (std::size_t r = 0; r < rows_of(in, run); ++r) {
      float* row = sum.data + r * sum.stride;
      add(row_of(a, r, a.columns), row_of(b, r, b.columns), cols, row);
      run.kernels.layer_norm({row, 0, nullptr, nullptr, cols}, gain(in, run), bias(in, run),
                             epsilon(), 1, cols, {norm.data + r * norm.stride, norm.stride});
      quantized_.quantize(in, run, r, r + 1);
    }
  }

 private:
  QuantizedResults quantized_;
};

using enum Reads;

constexpr KernelEntry kKernels[] = {
    {{.op = op::Softmax::kName, .name = "softmax", .reads = {view}, .refuse = needs_vector_input},
     make_kernel<PlainKernel<run_softmax>>},
    {{.op = op::LogSoftmax::kName,
      .name = "log_softmax",
      .reads = {view},
      .refuse = needs_vector_input},
     make_kernel<PlainKernel<run_log_softmax>>},
    {{.op = op::LogSumExp::kName, .name = "log_sum_exp", .reads = {view}},
     make_kernel<PlainKernel<run_log_sum_exp>>},
    {{.op = op::LayerNorm::kName, .name = "layer_norm", .reads = {view}}, make_kernel<LayerNorm>},
    {{.op = op::AddLayerNorm::kName,
      .name = "add_layer_norm",
      .reads = {view, view},
      .quantizes = true},
     make_kernel<AddLayerNorm>},
    {{.op = op::RmsNorm::kName, .name = "rms_norm", .reads = {view}}, make_kernel<RmsNorm>},
};

}  // namespace

std::span<const KernelEntry> normalization_kernels() { return kKernels; }

}  // namespace fuselage::cpu
