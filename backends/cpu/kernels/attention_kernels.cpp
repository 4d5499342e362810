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
#include "fuselage/ops/attention.h"
#include "fuselage/ops/rows.h"

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
  /// For blocks of left rows: f(all segments, first, last) writes the scores of left rows first …
  /// last - 1 into the weights' buffer; then mixes the values of operand `values`.
  template <typename F>
  void attend(const PlannedInstruction& in, const Run& run, std::size_t values, const F& f) const {
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
                 f(segments, begin, end);
                 soften(in, run, share_of(segments, begin, end));
                 mix(in, run, values, {first, begin, end});
               }
             });
  }

 private:
  /// Left rows begin … end - 1 of the share that begins with left row `first`.
  struct Block {
    std::size_t first, begin, end;
  };

  /// Converts scores into weights in place.
  static void soften(const PlannedInstruction& in, const Run& run, const Segments& rows) {
    float* weights = result_at(in, run, 0);
    run.kernels.segment_softmax(weights, heads_of(in), rows, weights);
  }

  /// Mixes the values of operand `values`, and quantizes the mixtures if the node has quantized
  /// results.
  void mix(const PlannedInstruction& in, const Run& run, std::size_t values,
           const Block& block) const {
    const BufferView& mixture = in.results[1];
    const std::size_t place = quantized_.place(1, block.first, block.begin);
    run.kernels.mix_rows(result_at(in, run, 0), heads_of(in), through_index(in, run, values, 1),
                         static_cast<std::size_t>(mixture.cols),
                         share_of(segments_of(map_, run), block.begin, block.end),
                         {data_at<float>(mixture, run, static_cast<std::int64_t>(place)),
                          static_cast<std::size_t>(mixture.stride)});
    quantized_.quantize_block(in, run, block.first, block.begin, block.end);
  }

  static std::size_t heads_of(const PlannedInstruction& in) {
    return static_cast<std::size_t>(in.results[0].cols);
  }

  MapId map_;  ///< groups pairs by left row
  QuantizedResults quantized_;
};

class AdditiveAttention final : public Attention {
 public:
  using Attention::Attention;
  void run(const PlannedInstruction& in, const Run& run) const override {
    attend(in, run, 3, [&](const Segments& segments, std::size_t first, std::size_t last) {
      run.kernels.factored_scores(rows_from(all_rows(in, run, 0), first),
                                  through_index(in, run, 1, 1),
                                  data_at<const float>(in.operands[2], run, 0),
                                  static_cast<std::size_t>(in.operands[0].cols),
                                  share_of(segments, first, last), result_at(in, run, 0));
    });
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
    attend(in, run, 2, [&](const Segments& segments, std::size_t first, std::size_t last) {
      run.kernels.dot_scores(through_index(in, run, 0, 0), through_index(in, run, 1, 1),
                             scores_.heads, scores_.scale,
                             static_cast<std::size_t>(in.operands[0].cols),
                             share_of(segments, first, last), result_at(in, run, 0));
    });
  }

 private:
  DotScores scores_;
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

using enum Reads;

constexpr KernelEntry kKernels[] = {
    {{.op = op::AdditiveAttention::kName,
      .name = "additive_attention",
      .reads = {slice, slice, whole, slice},
      .refuse = refuse_additive_attention,
      .quantizes = true},
     make_kernel<AdditiveAttention>},
    {{.op = op::DotAttention::kName,
      .name = "dot_attention",
      .reads = {slice, slice, slice},
      .refuse = refuse_dot_attention,
      .quantizes = true},
     make_kernel<DotAttention>},
    {{.op = op::HeadDot::kName, .name = "head_dot", .reads = {view, view}}, make_kernel<HeadDot>},
    {{.op = op::SegmentSoftmax::kName, .name = "segment_softmax"}, make_kernel<SegmentSoftmax>},
    {{.op = op::MixRows::kName, .name = "mix_rows", .reads = {whole, slice}}, make_kernel<MixRows>},
    {{.op = op::MeanRows::kName, .name = "mean_rows"}, make_kernel<MeanRows>},
    {{.op = op::SumRows::kName, .name = "sum_rows"}, make_kernel<ReduceRows<RowReduction::sum>>},
    {{.op = op::MaxRows::kName, .name = "max_rows"}, make_kernel<ReduceRows<RowReduction::max>>},
    {{.op = op::SegmentLogSumExp::kName, .name = "segment_log_sum_exp"},
     make_kernel<ReduceRows<RowReduction::log_sum_exp>>},
};

}  // namespace

std::span<const KernelEntry> attention_kernels() { return kKernels; }

}  // namespace fuselage::cpu
