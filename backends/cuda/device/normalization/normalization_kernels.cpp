#include "backends/cuda/device/kernel/kernel_registry.h"
#include "backends/cuda/device/kernel/operands.h"
#include "backends/cuda/device/normalization/normalize.h"
#include "backends/cuda/device/normalization/reduce.h"
#include "fuselage/ops/normalization.h"

namespace fuselage::cuda {
namespace {

void run_softmax(const PlannedInstruction& in, const Run& run) {
  softmax(run.stream, rows_in(in, run, 0), rows_of(in, run), cols_of(in), rows_out(in, run));
}

void run_log_softmax(const PlannedInstruction& in, const Run& run) {
  log_softmax(run.stream, rows_in(in, run, 0), rows_of(in, run), cols_of(in), rows_out(in, run));
}

void run_log_sum_exp(const PlannedInstruction& in, const Run& run) {
  log_sum_exp(run.stream, rows_in(in, run, 0), rows_of(in, run), in.operands[0].cols,
              rows_out(in, run));
}

template <Reduction kReduction>
void run_reduction(const PlannedInstruction& in, const Run& run) {
  const std::int64_t vectors = cols_of(in);
  reduce_vectors(run.stream, kReduction, rows_in(in, run, 0), rows_of(in, run), vectors,
                 in.operands[0].cols / vectors, rows_out(in, run));
}

/// A normalization with the gain as operand kGain and an optional bias as the next operand.
template <std::size_t kGain>
class Norm : public Kernel {
 public:
  Norm(const PlannedInstruction&, const Binding& binding)
      : epsilon_(static_cast<float>(binding.node.as<op::Epsilon>().epsilon)) {}

 protected:
  NormWeights weights(const PlannedInstruction& in, const Run& run) const {
    const bool has_bias = in.operands.size() > kGain + 1;
    return {.gain = data_at<const float>(in.operands[kGain], run),
            .bias = has_bias ? data_at<const float>(in.operands[kGain + 1], run) : nullptr,
            .epsilon = epsilon_};
  }

 private:
  float epsilon_;
};

class LayerNorm final : public Norm<1> {
 public:
  using Norm::Norm;
  void launch(const PlannedInstruction& in, const Run& run) const override {
    layer_norm(run.stream, rows_in(in, run, 0), weights(in, run), rows_of(in, run), cols_of(in),
               rows_out(in, run));
  }
};

class AddLayerNorm final : public Norm<2> {
 public:
  using Norm::Norm;
  void launch(const PlannedInstruction& in, const Run& run) const override {
    add_layer_norm(run.stream, rows_in(in, run, 0), rows_in(in, run, 1), weights(in, run),
                   rows_of(in, run), cols_of(in), rows_out(in, run, 0), rows_out(in, run, 1));
  }
};

class RmsNorm final : public Norm<1> {
 public:
  using Norm::Norm;
  void launch(const PlannedInstruction& in, const Run& run) const override {
    rms_norm(run.stream, rows_in(in, run, 0), weights(in, run), rows_of(in, run), cols_of(in),
             rows_out(in, run));
  }
};

const RegisterKernels kKernels({
    {"softmax", make_kernel<StatelessKernel<run_softmax>>},
    {"log_softmax", make_kernel<StatelessKernel<run_log_softmax>>},
    {"log_sum_exp", make_kernel<StatelessKernel<run_log_sum_exp>>},
    {"reduce_sum", make_kernel<StatelessKernel<run_reduction<Reduction::sum>>>},
    {"reduce_max", make_kernel<StatelessKernel<run_reduction<Reduction::max>>>},
    {"reduce_mean", make_kernel<StatelessKernel<run_reduction<Reduction::mean>>>},
    {"layer_norm", make_kernel<LayerNorm>},
    {"add_layer_norm", make_kernel<AddLayerNorm>},
    {"rms_norm", make_kernel<RmsNorm>},
});

}  // namespace
}  // namespace fuselage::cuda
