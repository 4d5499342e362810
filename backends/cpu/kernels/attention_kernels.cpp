// Attention: fused nodes, and separate nodes for scores, softmax and mixture. Both use the same
// functions.

#include <algorithm>

#include "backends/cpu/kernels/kernel_families.h"
#include "backends/cpu/kernels/quantized_results.h"
#include "backends/cpu/runtime/parts.h"
#include "backends/cpu/simd/table.h"
#include "fuselage/backends/cpu/runtime/make_kernel.h"
#include "fuselage/backends/cpu/runtime/operands.h"
#include "fuselage/backends/plan/refusals.h"
#include "fuselage/ops/fused/attention.h"
#include "fuselage/ops/structure/rows.h"

namespace fuselage::cpu {
namespace {

/// All rows of an operand, read through the index of another operand or its own.
RowsIn through_index(const PlannedInstruction& in, const Run& run, std::size_t operand,
                     std::size_t indexed) {
  RowsIn rows = all_rows(in, run, operand);
  rows.rows = run.indexes[static_cast<std::size_t>(in.operands[indexed].index)];
  return rows;
}

/// The segments of left rows first … last - 1; pairs keep their numbers.
Segments share_of(const Segments& segments, std::size_t first, std::size_t last) {
  return {segments.begin + first, last - first};
}

/// Operands: queries of left rows, keys of right rows, …, values of right rows. Results: weights of
/// pairs, mixtures of left rows.
class Attention : public Kernel {
 public:
  Attention(const PlannedInstruction& in, const Binding& binding)
      : map_(binding.node.as<op::PairMembers>().left.front()), quantized_(in, binding) {}

 protected:
  /// For blocks of left rows: score(all segments, first, last) writes the scores of left rows first
  /// … last - 1 into the weights' buffer; then mix(weights, segments, out) writes the mixtures of
  /// these rows.
  template <typename Score, typename Mix>
  void attend(const PlannedInstruction& in, const Run& run, const Score& score,
              const Mix& mix) const {
    // Multiply-adds per column of a pair, the cost of about one exponential.
    constexpr std::size_t kWorkOfAColumn = 8;
    // The left rows of a block; their scores stay in the L2 cache.
    constexpr std::size_t kBlock = 48;
    const Segments segments = segments_of(map_, run);
    const auto pairs = static_cast<std::size_t>(segments.begin[segments.count] - segments.begin[0]);
    const auto cols = static_cast<std::size_t>(in.operands[0].cols);
    in_parts(run, segments.count, kWorkOfAColumn * pairs * cols,
             [&](std::size_t first, std::size_t last) {
               for (std::size_t begin = first; begin < last; begin += kBlock) {
                 const std::size_t end = std::min(begin + kBlock, last);
                 score(segments, begin, end);
                 soften(in, run, share_of(segments, begin, end));
                 mix(result_at(in, run, 0), share_of(segments, begin, end),
                     mixtures(in, run, quantized_.place(1, first, begin)));
                 quantized_.quantize_block(in, run, first, begin, end);
               }
             });
  }

  /// Adds the rows of operand `bias`, if there is one, to the scores of the pairs of some left
  /// rows.
  static void add_bias(const PlannedInstruction& in, const Run& run, std::size_t bias,
                       const Segments& rows) {
    if (bias < in.operands.size())
      run.kernels.add_biases(rows_in(in, run, bias), heads_of(in), rows, result_at(in, run, 0));
  }

  static std::size_t heads_of(const PlannedInstruction& in) {
    return static_cast<std::size_t>(in.results[0].cols);
  }

  /// Mixes the values of operand `values`, rows of floats.
  static auto mix_floats(const PlannedInstruction& in, const Run& run, std::size_t values) {
    return [&in, &run, values](const float* weights, const Segments& segments, const RowsOut& out) {
      run.kernels.mix_rows(weights, heads_of(in), through_index(in, run, values, 1),
                           static_cast<std::size_t>(in.results[1].cols), segments, out);
    };
  }

 private:
  /// Converts scores into weights in place.
  static void soften(const PlannedInstruction& in, const Run& run, const Segments& rows) {
    float* weights = result_at(in, run, 0);
    run.kernels.segment_softmax(weights, heads_of(in), rows, weights);
  }

  /// The mixtures from `row` on.
  static RowsOut mixtures(const PlannedInstruction& in, const Run& run, std::size_t row) {
    const BufferView& mixture = in.results[1];
    return {data_at<float>(mixture, run, static_cast<std::int64_t>(row)),
            static_cast<std::size_t>(mixture.stride)};
  }

  MapId map_;  ///< groups pairs by left row
  QuantizedResults quantized_;
};

class AdditiveAttention final : public Attention {
 public:
  using Attention::Attention;
  void run(const PlannedInstruction& in, const Run& run) const override {
    const auto score = [&](const Segments& segments, std::size_t first, std::size_t last) {
      run.kernels.factored_scores(rows_from(all_rows(in, run, 0), first),
                                  through_index(in, run, 1, 1),
                                  data_at<const float>(in.operands[2], run, 0),
                                  static_cast<std::size_t>(in.operands[0].cols),
                                  share_of(segments, first, last), result_at(in, run, 0));
    };
    attend(in, run, score, mix_floats(in, run, 3));
  }
};

/// Attributes of dot-product scores.
struct DotScores {
  std::size_t heads;
  float scale;

  explicit DotScores(const Node& node)
      : heads(static_cast<std::size_t>(node.as<op::Heads>().heads)),
        scale(static_cast<float>(node.as<op::Heads>().scale)) {}
};

class DotAttention final : public Attention {
 public:
  DotAttention(const PlannedInstruction& in, const Binding& binding)
      : Attention(in, binding), scores_(binding.node) {}

  void run(const PlannedInstruction& in, const Run& run) const override {
    const auto score = [&](const Segments& segments, std::size_t first, std::size_t last) {
      run.kernels.dot_scores(through_index(in, run, 0, 0), through_index(in, run, 1, 1),
                             scores_.heads, scores_.scale,
                             static_cast<std::size_t>(in.operands[0].cols),
                             share_of(segments, first, last), result_at(in, run, 0));
      add_bias(in, run, 3, share_of(segments, first, last));
    };
    attend(in, run, score, mix_floats(in, run, 2));
  }

 private:
  DotScores scores_;
};

/// The same with queries of type qint16, and keys and values of type qint8.
class QuantizedDotAttention final : public Attention {
 public:
  QuantizedDotAttention(const PlannedInstruction& in, const Binding& binding)
      : Attention(in, binding), of_keys_(heads_of(binding, 1)), of_values_(heads_of(binding, 2)) {}

  void run(const PlannedInstruction& in, const Run& run) const override {
    const auto score = [&](const Segments& segments, std::size_t first, std::size_t last) {
      run.kernels.quantized_dot_scores(through_index(in, run, 0, 0), through_index(in, run, 1, 1),
                                       of_keys_, share_of(segments, first, last),
                                       result_at(in, run, 0));
      add_bias(in, run, 3, share_of(segments, first, last));
    };
    const auto mix = [&](const float* weights, const Segments& segments, const RowsOut& out) {
      run.kernels.mix_quantized_rows(weights, of_values_, through_index(in, run, 2, 1), segments,
                                     out);
    };
    attend(in, run, score, mix);
  }

 private:
  static QuantizedHeads heads_of(const Binding& binding, std::size_t operand) {
    const DotScores scores(binding.node);
    const Type& type = binding.graph.value(binding.node.operands[operand]).type;
    return {.count = scores.heads,
            .width = static_cast<std::size_t>(type.dims.back()),
            .scale = scores.scale};
  }

  QuantizedHeads of_keys_, of_values_;
};

class HeadDot final : public Kernel {
 public:
  HeadDot(const PlannedInstruction&, const Binding& binding) : scores_(binding.node) {}

  void run(const PlannedInstruction& in, const Run& run) const override {
    run.kernels.head_dot(rows_in(in, run, 0), rows_in(in, run, 1), scores_.heads, scores_.scale,
                         rows_of(in, run), static_cast<std::size_t>(in.operands[0].cols),
                         rows_out(in, run));
  }

 private:
  DotScores scores_;
};

/// A kernel that iterates over the pairs of left rows.
class OverPairs : public Kernel {
 public:
  OverPairs(const PlannedInstruction&, const Binding& binding)
      : map_(binding.node.as<op::Segments>().to.front()) {}

 protected:
  Segments segments(const Run& run) const { return segments_of(map_, run); }

 private:
  MapId map_;
};

class SegmentSoftmax final : public OverPairs {
 public:
  using OverPairs::OverPairs;
  void run(const PlannedInstruction& in, const Run& run) const override {
    run.kernels.segment_softmax(plain_in<const float>(in, run, 0), cols_of(in), segments(run),
                                result_at(in, run));
  }
};

class MixRows final : public OverPairs {
 public:
  using OverPairs::OverPairs;
  void run(const PlannedInstruction& in, const Run& run) const override {
    run.kernels.mix_rows(
        data_at<const float>(in.operands[0], run, 0), static_cast<std::size_t>(in.operands[0].cols),
        through_index(in, run, 1, 1), cols_of(in), segments(run), rows_out(in, run));
  }
};

class MeanRows final : public OverPairs {
 public:
  using OverPairs::OverPairs;
  void run(const PlannedInstruction& in, const Run& run) const override {
    run.kernels.mean_rows(all_rows(in, run, 0), cols_of(in), segments(run), rows_out(in, run));
  }
};

template <RowReduction kReduction>
class ReduceRows final : public OverPairs {
 public:
  using OverPairs::OverPairs;
  void run(const PlannedInstruction& in, const Run& run) const override {
    run.kernels.reduce_rows(kReduction, all_rows(in, run, 0), cols_of(in), segments(run),
                            rows_out(in, run));
  }
};

}  // namespace

std::span<const KernelEntry> attention_kernels() {
  using enum Reads;
  static constexpr KernelEntry kKernels[] = {
      {{.op = op::AdditiveAttention::kName,
        .name = "additive_attention",
        .reads = {slice, slice, whole, slice},
        .refuse = refuse_additive_attention,
        .quantizes = true},
       make_kernel<AdditiveAttention>},
      {{.op = op::DotAttention::kName,
        .name = "dot_attention",
        .reads = {slice, slice, slice, view},
        .refuse = refuse_dot_attention,
        .quantizes = true},
       make_kernel<DotAttention>},
      {{.op = op::DotAttention::kName,
        .name = "quantized_dot_attention",
        .reads = {slice, slice, slice, view},
        .refuse = refuse_quantized_attention,
        .quantizes = true},
       make_kernel<QuantizedDotAttention>},
      {{.op = op::HeadDot::kName, .name = "head_dot", .reads = {view, view}}, make_kernel<HeadDot>},
      {{.op = op::SegmentSoftmax::kName, .name = "segment_softmax"}, make_kernel<SegmentSoftmax>},
      {{.op = op::MixRows::kName, .name = "mix_rows", .reads = {whole, slice}},
       make_kernel<MixRows>},
      {{.op = op::MeanRows::kName, .name = "mean_rows"}, make_kernel<MeanRows>},
      {{.op = op::SumRows::kName, .name = "sum_rows"}, make_kernel<ReduceRows<RowReduction::sum>>},
      {{.op = op::MaxRows::kName, .name = "max_rows"}, make_kernel<ReduceRows<RowReduction::max>>},
      {{.op = op::SegmentLogSumExp::kName, .name = "segment_log_sum_exp"},
       make_kernel<ReduceRows<RowReduction::log_sum_exp>>},
  };
  return kKernels;
}

}  // namespace fuselage::cpu
