// Softmax and normalization.

#include "backends/cpu/kernels/kernel_families.h"
#include "backends/cpu/kernels/quantized_results.h"
#include "backends/cpu/simd/table.h"
#include "fuselage/backends/cpu/runtime/make_kernel.h"
#include "fuselage/backends/cpu/runtime/operands.h"
#include "fuselage/backends/plan/refusals.h"
#include "fuselage/ops/arithmetic/normalization.h"
#include "fuselage/ops/arithmetic/softmax.h"
#include "fuselage/ops/fused/chains.h"

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

struct NormWeights {
  const float* gain = nullptr;
  const float* bias = nullptr;  ///< nullptr: none
  float epsilon = 0;
};

/// Normalizes `rows` rows of `cols` elements.
using Normalize = void (*)(const Run& run, const RowsIn& x, const NormWeights& weights,
                           std::size_t rows, std::size_t cols, const RowsOut& y);

void layer_norm(const Run& run, const RowsIn& x, const NormWeights& weights, std::size_t rows,
                std::size_t cols, const RowsOut& y) {
  run.kernels.layer_norm(x, weights.gain, weights.bias, weights.epsilon, rows, cols, y);
}

void rms_norm(const Run& run, const RowsIn& x, const NormWeights& weights, std::size_t rows,
              std::size_t cols, const RowsOut& y) {
  run.kernels.rms_norm(x, weights.gain, weights.epsilon, rows, cols, y);
}

/// The weights of a node with gain as operand `gain` and an optional bias as the next operand.
NormWeights norm_weights(const PlannedInstruction& in, const Run& run, std::size_t gain,
                         float epsilon) {
  const bool has_bias = in.operands.size() > gain + 1;
  return {plain_in<const float>(in, run, gain),
          has_bias ? plain_in<const float>(in, run, gain + 1) : nullptr, epsilon};
}

float epsilon_of(const Binding& binding) {
  return static_cast<float>(binding.node.as<op::Epsilon>().epsilon);
}

template <Normalize kNormalize>
class Norm final : public Kernel {
 public:
  Norm(const PlannedInstruction&, const Binding& binding) : epsilon_(epsilon_of(binding)) {}

  void run(const PlannedInstruction& in, const Run& run) const override {
    kNormalize(run, rows_in(in, run, 0), norm_weights(in, run, 1, epsilon_), rows_of(in, run),
               cols_of(in), rows_out(in, run));
  }

 private:
  float epsilon_;
};

/// Row by row, so that the sum is still in the cache when it is normalized.
template <Normalize kNormalize>
class AddNorm final : public Kernel {
 public:
  AddNorm(const PlannedInstruction& in, const Binding& binding)
      : epsilon_(epsilon_of(binding)), quantized_(in, binding) {}

  void run(const PlannedInstruction& in, const Run& run) const override {
    const RowsIn a = rows_in(in, run, 0);
    const RowsIn b = rows_in(in, run, 1);
    const NormWeights weights = norm_weights(in, run, 2, epsilon_);
    const std::size_t cols = cols_of(in);
    const BinaryRow add = run.kernels.binary_row(Binary::add, a.columns != cols, b.columns != cols);
    const RowsOut norm = rows_out(in, run, 0);
    const RowsOut sum = rows_out(in, run, 1);
    for (std::size_t r = 0; r < rows_of(in, run); ++r) {
      float* row = sum.data + quantized_.place(1, 0, r) * sum.stride;
      add(row_of(a, r, a.columns), row_of(b, r, b.columns), cols, row);
      kNormalize(run, {row, 0, nullptr, nullptr, cols}, weights, 1, cols,
                 {norm.data + quantized_.place(0, 0, r) * norm.stride, norm.stride});
      quantized_.quantize_block(in, run, 0, r, r + 1);
    }
  }

 private:
  float epsilon_;
  QuantizedResults quantized_;
};

}  // namespace

std::span<const KernelEntry> normalization_kernels() {
  using enum Reads;
  static constexpr KernelEntry kKernels[] = {
      {{.op = op::Softmax::kName, .name = "softmax", .reads = {view}, .refuse = needs_vector_input},
       make_kernel<PlainKernel<run_softmax>>},
      {{.op = op::LogSoftmax::kName,
        .name = "log_softmax",
        .reads = {view},
        .refuse = needs_vector_input},
       make_kernel<PlainKernel<run_log_softmax>>},
      {{.op = op::LogSumExp::kName, .name = "log_sum_exp", .reads = {view}},
       make_kernel<PlainKernel<run_log_sum_exp>>},
      {{.op = op::LayerNorm::kName, .name = "layer_norm", .reads = {view}},
       make_kernel<Norm<layer_norm>>},
      {{.op = op::AddLayerNorm::kName,
        .name = "add_layer_norm",
        .reads = {view, view},
        .quantizes = true},
       make_kernel<AddNorm<layer_norm>>},
      {{.op = op::RmsNorm::kName, .name = "rms_norm", .reads = {view}},
       make_kernel<Norm<rms_norm>>},
      {{.op = op::AddRmsNorm::kName,
        .name = "add_rms_norm",
        .reads = {view, view},
        .quantizes = true},
       make_kernel<AddNorm<rms_norm>>},
  };
  return kKernels;
}

}  // namespace fuselage::cpu
