#include <vector>

#include "backends/cuda/device/gemm/device_weights.h"
#include "backends/cuda/device/kernel/kernel_registry.h"
#include "backends/cuda/device/kernel/operands.h"
#include "backends/cuda/device/output/repetition.h"
#include "fuselage/base/error.h"
#include "fuselage/ops/search/repetition.h"

namespace fuselage::cuda {
namespace {

class RowNumber final : public Kernel {
 public:
  RowNumber(const PlannedInstruction&, const Binding& binding)
      : op_(binding.node.as<op::RowNumber>()) {}

  void launch(const PlannedInstruction& in, const Run& run) const override {
    row_numbers(run.stream, index_path(op_.via, run), static_cast<float>(op_.unmapped),
                rows_of(in, run), rows_out(in, run));
  }

 private:
  op::RowNumber op_;
};

/// A kernel that reads texts of rows.
class Texts : public Kernel {
 public:
  explicit Texts(const Binding& binding) : repeats_(binding.node.as<op::Repeats>()) {
    if (repeats_.forbidden.empty()) return;
    const std::vector<std::int32_t> ids(repeats_.forbidden.begin(), repeats_.forbidden.end());
    forbidden_ = reinterpret_cast<const std::int32_t*>(
        binding.weights.upload(ids.data(), ids.size() * sizeof(std::int32_t)));
  }

 protected:
  RepeatedTexts texts(const PlannedInstruction& in, const Run& run) const {
    return {.pairs = segments_of(repeats_.to.front(), run),
            .via = run.rows[repeats_.via.front()].index,
            .words = all_rows(in, run, 1),
            .penalty = static_cast<float>(repeats_.penalty),
            .ngram = static_cast<std::int32_t>(repeats_.ngram),
            .forbidden = forbidden_,
            .forbidden_size = static_cast<std::int32_t>(repeats_.forbidden.size())};
  }

 private:
  op::Repeats repeats_;
  const std::int32_t* forbidden_ = nullptr;  ///< in device memory
};

class PenalizeRepeats final : public Texts {
 public:
  PenalizeRepeats(const PlannedInstruction&, const Binding& binding) : Texts(binding) {}

  void launch(const PlannedInstruction& in, const Run& run) const override {
    penalize_repeats(run.stream, rows_in(in, run, 0), texts(in, run), rows_of(in, run), cols_of(in),
                     rows_out(in, run));
  }
};

class SegmentPenalizeRepeats final : public Texts {
 public:
  SegmentPenalizeRepeats(const PlannedInstruction&, const Binding& binding)
      : Texts(binding),
        row_(binding.node.as<op::SegmentPenalizeRepeats>().row.front()),
        listed_(binding.node.as<op::SegmentPenalizeRepeats>().listed),
        rows_(binding.graph.map(row_).to) {}

  void launch(const PlannedInstruction& in, const Run& run) const override {
    check(in.operands[0].stride == 1 && in.results[0].stride == 1,
          "segment_penalize_repeats: scores must be contiguous");
    penalize_repeats(run.stream, data_at<const float>(in.operands[0], run), texts(in, run),
                     live_rows(rows_, run),
                     {.pairs = segments_of(row_, run),
                      .right = run.rows[listed_[0]].index,
                      .words = run.rows[listed_[1]].index},
                     data_at<float>(in.results[0], run));
  }

 private:
  MapId row_;
  MapPath listed_;
  DomainId rows_;
};

const RegisterKernels kRepetitionKernels({
    {"row_number", make_kernel<RowNumber>},
    {"penalize_repeats", make_kernel<PenalizeRepeats>},
    {"segment_penalize_repeats", make_kernel<SegmentPenalizeRepeats>},
});

}  // namespace
}  // namespace fuselage::cuda
