#include <memory>

#include "backends/cuda/device/attention/attention.h"
#include "backends/cuda/device/attention/segment_reductions.h"
#include "backends/cuda/device/kernel/kernel_registry.h"
#include "backends/cuda/device/kernel/operands.h"
#include "backends/cuda/device/kernel/rounded_results.h"
#include "fuselage/ops/fused/attention.h"
#include "fuselage/ops/structure/rows.h"

namespace fuselage::cuda {
namespace {

/// Softmax or log-softmax over the pairs of each left row.
template <auto kSoftmax>
class SegmentSoftmax final : public Kernel {
 public:
  SegmentSoftmax(const PlannedInstruction&, const Binding& binding)
      : map_(binding.node.as<op::Segments>().to.front()), left_(binding.graph.map(map_).to) {}

  void launch(const PlannedInstruction& in, const Run& run) const override {
    kSoftmax(run.stream, all_rows(in, run, 0), cols_of(in), segments_of(map_, run),
             live_rows(left_, run), rows_out(in, run));
  }

 private:
  MapId map_;
  DomainId left_;
};

/// Rows of words as rows of T.
template <typename T>
RowsOf<T> rows_of_type(const RowsIn& words) {
  constexpr std::size_t kWord = sizeof(float);
  constexpr int kPerWord = kWord / sizeof(T);
  return {.data = reinterpret_cast<const T*>(words.data),
          .stride = kPerWord * words.stride,
          .columns = kPerWord * words.columns};
}

/// Operands: queries by left row, keys by right row, …, values by right row. Results: weights by
/// pair, mixtures by left row.
class AttentionKernel : public Kernel {
 public:
  AttentionKernel(const PlannedInstruction& in, const Binding& binding)
      : map_(binding.node.as<op::PairMembers>().left.front()),
        left_(binding.graph.map(map_).to),
        rounded_(in, binding) {}

 protected:
  FloatsOut mixtures(const PlannedInstruction& in, const Run& run) const {
    return rounded_.out(in, run, 1);
  }

  template <typename T>
  Attention<T> attention(const PlannedInstruction& in, const Run& run, std::size_t values) const {
    const std::int32_t* right = run.indexes[static_cast<std::size_t>(in.operands[1].index)];
    Attention<T> attention{.queries = all_rows(in, run, 0),
                           .keys = rows_of_type<T>(all_rows(in, run, 1)),
                           .values = rows_of_type<T>(all_rows(in, run, values)),
                           .biases = {},
                           .segments = segments_of(map_, run),
                           .left = live_rows(left_, run),
                           .new_keys = {},
                           .new_values = {}};
    attention.keys.index = attention.values.index = right;
    return attention;
  }

 private:
  MapId map_;
  DomainId left_;
  RoundedResults rounded_;
};

class AdditiveAttention final : public AttentionKernel {
 public:
  using AttentionKernel::AttentionKernel;

  void launch(const PlannedInstruction& in, const Run& run) const override {
    additive_attention(run.stream, attention<float>(in, run, 3),
                       data_at<const float>(in.operands[2], run), rows_out(in, run, 0),
                       mixtures(in, run));
  }
};

/// Keys and values are of T.
template <typename T>
class DotAttention final : public AttentionKernel {
 public:
  DotAttention(const PlannedInstruction& in, const Binding& binding)
      : AttentionKernel(in, binding),
        heads_(binding.node.as<op::Heads>().heads),
        scale_(static_cast<float>(binding.node.as<op::Heads>().scale)),
        reads_weights_(has_reader(binding.graph, binding.node.results[0])) {
    if (in.appended.empty()) return;
    const DomainId words = binding.graph.value(binding.node.operands[kKeys]).type.domain;
    newest_ = binding.graph.map_of(binding.graph.domain(words).of, MapKind::newest);
  }

  void launch(const PlannedInstruction& in, const Run& run) const override {
    Attention<T> operands = attention<T>(in, run, kValues);
    if (in.operands.size() > kBias) operands.biases = rows_in(in, run, kBias);
    for (const AppendedRows& appended : in.appended) {
      NewRows<T>& added = appended.operand == kKeys ? operands.new_keys : operands.new_values;
      added.rows = rows_at(in, run, appended.rows);
      added.newest = run.rows[newest_].index;
      added.history = reinterpret_cast<T*>(data_at<float>(in.operands[appended.operand], run));
    }
    dot_attention(run.stream, operands, heads_, scale_, rows_out(in, run, 0), reads_weights_,
                  mixtures(in, run));
  }

 private:
  static constexpr std::size_t kKeys = 1, kValues = 2, kBias = 3;

  std::int64_t heads_;
  float scale_;
  bool reads_weights_;
  MapId newest_;
};

std::unique_ptr<Kernel> make_rounded_dot_attention(const PlannedInstruction& in,
                                                   const Binding& binding) {
  if (binding.graph.value(binding.node.operands[1]).type.dtype == DType::bf16)
    return std::make_unique<DotAttention<__nv_bfloat16>>(in, binding);
  return std::make_unique<DotAttention<__half>>(in, binding);
}

const RegisterKernels kAttentionKernels({
    {"segment_softmax", make_kernel<SegmentSoftmax<segment_softmax>>},
    {"segment_log_softmax", make_kernel<SegmentSoftmax<segment_log_softmax>>},
    {"additive_attention", make_kernel<AdditiveAttention>},
    {"dot_attention", make_kernel<DotAttention<float>>},
    {"rounded_dot_attention", make_rounded_dot_attention},
});

}  // namespace
}  // namespace fuselage::cuda
