#include "backends/cuda/device/kernel/kernel_registry.h"
#include "backends/cuda/device/kernel/operands.h"
#include "backends/cuda/device/kernel/rounded_results.h"
#include "backends/cuda/device/normalization/normalize.h"
#include "backends/cuda/device/normalization/reduce.h"
#include "fuselage/ops/arithmetic/normalization.h"

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

/// The weights of a node with the gain as operand `gain` and an optional bias as the next operand.
NormWeights norm_weights(const PlannedInstruction& in, const Run& run, std::size_t gain,
                         float epsilon) {
  const bool has_bias = in.operands.size() > gain + 1;
  return {.gain = data_at<const float>(in.operands[gain], run),
          .bias = has_bias ? data_at<const float>(in.operands[gain + 1], run) : nullptr,
          .epsilon = epsilon};
}

/// A kernel with the attribute epsilon.
class NormKernel : public Kernel {
 public:
  NormKernel(const PlannedInstruction&, const Binding& binding)
      : epsilon_(static_cast<float>(binding.node.as<op::Epsilon>().epsilon)) {}

 protected:
  float epsilon() const { return epsilon_; }

 private:
  float epsilon_;
};

template <decltype(layer_norm)* kNormalize>
class Norm final : public NormKernel {
 public:
  using NormKernel::NormKernel;
  void launch(const PlannedInstruction& in, const Run& run) const override {
    kNormalize(run.stream, rows_in(in, run, 0), norm_weights(in, run, 1, epsilon()),
               rows_of(in, run), cols_of(in), rows_out(in, run));
  }
};

template <decltype(add_layer_norm)* kAddAndNormalize>
class AddNorm final : public NormKernel {
 public:
  AddNorm(const PlannedInstruction& in, const Binding& binding)
      : NormKernel(in, binding),
        rounded_(in, binding),
        stores_sum_(has_reader(binding.graph, binding.node.results[1])) {}

  void launch(const PlannedInstruction& in, const Run& run) const override {
    FloatsOut sum = rounded_.out(in, run, 1);
    sum.floats = rows_out(in, run, 1);
    kAddAndNormalize(run.stream, rows_in(in, run, 0), rows_in(in, run, 1),
                     norm_weights(in, run, 2, epsilon()), rows_of(in, run), cols_of(in),
                     rounded_.out(in, run, 0), sum, stores_sum_);
  }

 private:
  RoundedResults rounded_;
  bool stores_sum_;
};

const RegisterKernels kNormalizationKernels({
    {"softmax", make_kernel<StatelessKernel<run_softmax>>},
    {"log_softmax", make_kernel<StatelessKernel<run_log_softmax>>},
    {"log_sum_exp", make_kernel<StatelessKernel<run_log_sum_exp>>},
    {"reduce_sum", make_kernel<StatelessKernel<run_reduction<Reduction::sum>>>},
    {"reduce_max", make_kernel<StatelessKernel<run_reduction<Reduction::max>>>},
    {"reduce_mean", make_kernel<StatelessKernel<run_reduction<Reduction::mean>>>},
    {"layer_norm", make_kernel<Norm<layer_norm>>},
    {"add_layer_norm", make_kernel<AddNorm<add_layer_norm>>},
    {"rms_norm", make_kernel<Norm<rms_norm>>},
    {"add_rms_norm", make_kernel<AddNorm<add_rms_norm>>},
});

}  // namespace
}  // namespace fuselage::cuda
