#include <vector>

#include "backends/cuda/device/gemm/device_weights.h"
#include "backends/cuda/device/kernel/kernel_registry.h"
#include "backends/cuda/device/kernel/operands.h"
#include "backends/cuda/device/output/draw.h"
#include "fuselage/base/error.h"
#include "fuselage/ops/search/sampling.h"

namespace fuselage::cuda {
namespace {

void run_uniform(const PlannedInstruction& in, const Run& run) {
  uniform_numbers(run.stream, rows_in(in, run, 0), rows_in<std::int32_t>(in, run, 1),
                  rows_of(in, run), rows_out(in, run));
}

/// An op that draws words.
class Drawing : public Kernel {
 public:
  explicit Drawing(const Binding& binding) {
    const auto rule = binding.node.as<op::Draw>();
    query_.temperature = static_cast<float>(rule.temperature);
    query_.top_p = rule.top_p;
    query_.epsilon = rule.epsilon;
    if (rule.excluded.empty()) return;
    const std::vector<std::int32_t> excluded(rule.excluded.begin(), rule.excluded.end());
    query_.excluded = reinterpret_cast<const std::int32_t*>(
        binding.weights.upload(excluded.data(), excluded.size() * sizeof(std::int32_t)));
    query_.excluded_count = static_cast<std::int32_t>(excluded.size());
  }

 protected:
  /// The query of an instruction, but for its scores and words.
  DrawQuery query(const PlannedInstruction& in, const Run& run) const {
    DrawQuery query = query_;
    query.rows = rows_of(in, run);
    query.random = rows_in(in, run, 1);
    query.score = rows_out(in, run, 0);
    query.word = rows_out<std::int32_t>(in, run, 1);
    return query;
  }

 private:
  DrawQuery query_;
};

class Sample final : public Drawing {
 public:
  Sample(const PlannedInstruction&, const Binding& binding)
      : Drawing(binding), top_k_(static_cast<std::int32_t>(binding.node.as<op::Sample>().top_k)) {}

  void launch(const PlannedInstruction& in, const Run& run) const override {
    DrawQuery draw = query(in, run);
    draw.scores = rows_in(in, run, 0);
    if (in.operands.size() > 2) draw.listed = rows_in<std::int32_t>(in, run, 2);
    draw.top_k = top_k_;
    draw_words(run.stream, draw, scores_of(in, draw.rows.max_live), run.workspace);
  }

  std::size_t workspace_bytes(const PlannedInstruction& in,
                              const RowBounds& bounds) const override {
    return draw_bytes(scores_of(in, bounds[in.domain].max_live));
  }

 private:
  static std::int64_t scores_of(const PlannedInstruction& in, std::int64_t rows) {
    return rows * in.operands[0].cols;
  }

  std::int32_t top_k_;
};

class SegmentSample final : public Drawing {
 public:
  SegmentSample(const PlannedInstruction&, const Binding& binding)
      : Drawing(binding),
        to_(binding.node.as<op::SegmentSample>().to.front()),
        words_(binding.node.as<op::SegmentSample>().words),
        pairs_(binding.graph.map(to_).from) {}

  void launch(const PlannedInstruction& in, const Run& run) const override {
    check(in.operands[0].stride == 1, "segment_sample: scores must be contiguous");
    DrawQuery draw = query(in, run);
    draw.scores = all_rows(in, run, 0);
    draw.pairs = segments_of(to_, run);
    draw.words = index_path(words_, run);
    draw_words(run.stream, draw, run.rows[pairs_].max_live, run.workspace);
  }

  std::size_t workspace_bytes(const PlannedInstruction&, const RowBounds& bounds) const override {
    return draw_bytes(bounds[pairs_].max_live);
  }

 private:
  MapId to_;
  MapPath words_;
  DomainId pairs_;
};

const RegisterKernels kDrawKernels({
    {"uniform", make_kernel<StatelessKernel<run_uniform>>},
    {"sample", make_kernel<Sample>},
    {"segment_sample", make_kernel<SegmentSample>},
});

}  // namespace
}  // namespace fuselage::cuda
