#include <algorithm>

#include "backends/cuda/device/gemm/blas.h"
#include "backends/cuda/device/gemm/round_rows.h"
#include "backends/cuda/device/kernel/bump_allocator.h"
#include "backends/cuda/device/kernel/kernel_registry.h"
#include "backends/cuda/device/output/fused_output.h"
#include "backends/cuda/device/output/hopper_output.h"
#include "backends/cuda/device/output/logit_layers.h"
#include "backends/cuda/device/output/output_cost.h"
#include "backends/cuda/device/output/shortlist_logits.h"
#include "fuselage/base/error.h"
#include "fuselage/ops/fused/output.h"
#include "fuselage/ops/structure/rows.h"

namespace fuselage::cuda {
namespace {

/// The optional third operand, a bias; null if there is none.
const float* third_as_bias(const PlannedInstruction& in, const Run& run) {
  return in.operands.size() > 2 ? data_at<const float>(in.operands[2], run) : nullptr;
}

/// k_best.
class KBest : public Kernel {
 public:
  KBest(const PlannedInstruction&, const Binding&) {}

  void launch(const PlannedInstruction& in, const Run& run) const override {
    const Logits<float> logits[] = {{.stored = rows_in(in, run, 0)}};
    best_of_rows<float>(run.stream, best_query(in, run, in.operands[0].cols, false), logits,
                        run.workspace);
  }

  std::size_t workspace_bytes(const PlannedInstruction& in,
                              const RowBounds& bounds) const override {
    return best_of_rows_bytes(bounds[in.domain].max_live,
                              static_cast<std::int32_t>(in.operands[0].cols), cols_of(in), 1);
  }
};

/// segment_k_best: the numbers of the best pairs of each left row, then their words.
class SegmentKBest : public Kernel {
 public:
  SegmentKBest(const PlannedInstruction&, const Binding& binding)
      : to_(binding.node.as<op::Segments>().to.front()),
        words_(binding.node.as<op::ShortlistWords>().words),
        pairs_(binding.graph.map(to_).from) {}

  void launch(const PlannedInstruction& in, const Run& run) const override {
    check(in.operands[0].stride == 1, "segment_k_best: scores must be contiguous");
    const BestQuery query = best_query(in, run, 0, false);
    const Segments pairs = segments_of(to_, run);
    best_of_lists(run.stream, query, data_at<const float>(in.operands[0], run),
                  {.pairs = pairs, .max_pairs = run.rows[pairs_].max_live}, run.workspace);
    follow_from_pairs(run.stream, index_path(words_, run), pairs, query.rows, query.k,
                      query.out.ids);
  }

  std::size_t workspace_bytes(const PlannedInstruction& in,
                              const RowBounds& bounds) const override {
    return best_of_lists_bytes(bounds[in.domain].max_live, bounds[pairs_].max_live);
  }

 private:
  MapId to_;
  MapPath words_;
  DomainId pairs_;
};

/// linear_k_best with logits in memory.
std::unique_ptr<Kernel> make_output_layer(const PlannedInstruction& in, const Binding& binding) {
  std::vector<LogitLayers::Member> only{
      {.operands = GemmOperands(in, binding), .bias = in.operands.size() > 2 ? 2 : kNone}};
  return std::make_unique<LogitLayers>(std::move(only), binding.node.as<op::Scores>().log_softmax);
}

std::unique_ptr<Kernel> make_output_layers(const PlannedInstruction& in, const Binding& binding) {
  std::vector<LogitLayers::Member> members;
  for (const MemberOperands& member : ensemble_members(binding.node.as<op::EnsembleKBest>())) {
    const Factors factors{.x = member.x, .w = member.w, .transposed = member.transposed};
    members.push_back({.operands = GemmOperands(in, binding, factors),
                       .bias = member.bias ? static_cast<std::int32_t>(*member.bias) : kNone,
                       .weight = static_cast<float>(member.weight)});
  }
  return std::make_unique<LogitLayers>(std::move(members), true);
}

/// linear_k_best for matrices of bf16 and f16, to whose type rows are rounded: in the fastest way
/// (output_cost.h), or without logits in memory where a row's bits must not depend on the number of
/// rows.
class FusedOutput : public Kernel {
 public:
  FusedOutput(const PlannedInstruction& in, const Binding& binding)
      : matrix_(stored_matrix(in, binding, first_two_factors(binding))),
        log_softmax_(binding.node.as<op::Scores>().log_softmax),
        with_logits_(make_output_layer(in, binding)),
        unmeasured_(has_hopper_output() ? use_of_unmeasured() : UnmeasuredUse::never) {}

  void launch(const PlannedInstruction& in, const Run& run) const override {
    const BestQuery query = best_query(in, run, matrix_->n, log_softmax_);
    const OutputWay way =
        run.blas.is_deterministic() ? OutputWay::fused : way_for(query.rows.max_live, query.k);
    if (way == OutputWay::logits) return with_logits_->launch(in, run);
    BumpAllocator allocator(run.workspace);
    auto* x = allocator.allocate<std::uint16_t>(query.rows.max_live * matrix_->stride);
    check(allocator.fits(), "fused_output: the workspace is too small");
    round_rows(run.stream, {rows_in(in, run, 0), query.rows, 1, matrix_->k}, matrix_->dtype,
               matrix_->stride, {x, matrix_->stride, nullptr});
    const auto output = way == OutputWay::hopper ? hopper_output : fused_output;
    output(run.stream, query, x, *matrix_, third_as_bias(in, run), allocator.remaining());
  }

  std::size_t workspace_bytes(const PlannedInstruction& in,
                              const RowBounds& bounds) const override {
    const std::int64_t rows = bounds[in.domain].max_live;
    BumpAllocator allocator;
    allocator.allocate<std::uint16_t>(rows * matrix_->stride);
    const std::int32_t k = cols_of(in);
    const OutputWay way = way_for(rows, k);
    std::size_t bytes = fused_output_bytes(rows, *matrix_, k);  // in deterministic runs
    if (way == OutputWay::hopper) bytes = std::max(bytes, hopper_output_bytes(rows, *matrix_, k));
    bytes += allocator.used_bytes();
    if (way != OutputWay::logits) return bytes;
    return std::max(bytes, with_logits_->workspace_bytes(in, bounds));
  }

 private:
  OutputWay way_for(std::int64_t rows, std::int32_t k) const {
    return fastest_output({rows, matrix_->k, matrix_->n, k}, unmeasured_);
  }

  std::shared_ptr<const DeviceMatrix> matrix_;
  bool log_softmax_;
  std::unique_ptr<Kernel> with_logits_;
  UnmeasuredUse unmeasured_;
};

/// Rows too long for shared memory always have logits in memory.
std::unique_ptr<Kernel> make_fused_output(const PlannedInstruction& in, const Binding& binding) {
  const std::int64_t k = binding.graph.value(binding.node.operands[0]).type.dims.back();
  if (!fused_shape(padded_size(k), cols_of(in))) return make_output_layer(in, binding);
  return std::make_unique<FusedOutput>(in, binding);
}

/// shortlist_k_best: logits of the words of each row's shortlist, then the k best.
class ShortlistOutput : public Kernel {
 public:
  ShortlistOutput(const PlannedInstruction& in, const Binding& binding)
      : matrix_(stored_matrix(in, binding, first_two_factors(binding))),
        to_(binding.node.as<op::Segments>().to.front()),
        words_(binding.node.as<op::ShortlistWords>().words),
        pairs_(binding.graph.map(to_).from),
        log_softmax_(binding.node.as<op::Scores>().log_softmax) {}

  void launch(const PlannedInstruction& in, const Run& run) const override {
    const BestQuery query = best_query(in, run, 0, log_softmax_);
    const ShortlistWords lists{.pairs = segments_of(to_, run),
                               .right = run.rows[words_[0]].index,
                               .words = run.rows[words_[1]].index,
                               .max_pairs = run.rows[pairs_].max_live};
    BumpAllocator allocator(run.workspace);
    auto* logits = allocator.allocate<float>(lists.max_pairs);
    check(allocator.fits(), "shortlist_output_layer: the workspace is too small");
    shortlist_logits(run.stream, rows_in(in, run, 0), query.rows, *matrix_, third_as_bias(in, run),
                     lists, logits);
    best_of_lists(run.stream, query, logits, lists, allocator.remaining());
  }

  std::size_t workspace_bytes(const PlannedInstruction& in,
                              const RowBounds& bounds) const override {
    BumpAllocator allocator;
    allocator.allocate<float>(bounds[pairs_].max_live);
    return allocator.used_bytes() +
           best_of_lists_bytes(bounds[in.domain].max_live, bounds[pairs_].max_live);
  }

 private:
  std::shared_ptr<const DeviceMatrix> matrix_;
  MapId to_;
  MapPath words_;
  DomainId pairs_;
  bool log_softmax_;
};

/// sampled_matmul: logits of the words of each row's shortlist.
class SampledProduct : public Kernel {
 public:
  SampledProduct(const PlannedInstruction& in, const Binding& binding)
      : matrix_(stored_matrix(in, binding, first_two_factors(binding))),
        to_(binding.node.as<op::Segments>().to.front()),
        words_(binding.node.as<op::ShortlistWords>().words),
        pairs_(binding.graph.map(to_).from),
        rows_(binding.graph.map(to_).to) {}

  void launch(const PlannedInstruction& in, const Run& run) const override {
    const ShortlistWords lists{.pairs = segments_of(to_, run),
                               .right = run.rows[words_[0]].index,
                               .words = run.rows[words_[1]].index,
                               .max_pairs = run.rows[pairs_].max_live};
    check(in.results[0].stride == 1, "sampled_product: logits must be contiguous");
    shortlist_logits(run.stream, all_rows(in, run, 0), live_rows(rows_, run), *matrix_,
                     third_as_bias(in, run), lists, data_at<float>(in.results[0], run));
  }

 private:
  std::shared_ptr<const DeviceMatrix> matrix_;
  MapId to_;
  MapPath words_;
  DomainId pairs_, rows_;
};

const RegisterKernels kOutputKernels({
    {"fused_output", make_fused_output},
    {"output_layer", make_output_layer},
    {"shortlist_output_layer", make_kernel<ShortlistOutput>},
    {"sampled_product", make_kernel<SampledProduct>},
    {"output_layers", make_output_layers},
    {"k_best", make_kernel<KBest>},
    {"segment_k_best", make_kernel<SegmentKBest>},
});

}  // namespace
}  // namespace fuselage::cuda
