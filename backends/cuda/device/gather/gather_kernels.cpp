#include <numeric>
#include <vector>

#include "backends/cuda/device/attention/attention.h"
#include "backends/cuda/device/attention/segment_reductions.h"
#include "backends/cuda/device/gather/copy.h"
#include "backends/cuda/device/gather/positions.h"
#include "backends/cuda/device/gather/strided_copy.h"
#include "backends/cuda/device/kernel/kernel_registry.h"
#include "backends/cuda/device/kernel/operands.h"
#include "backends/cuda/device/kernel/rounded_results.h"
#include "fuselage/ops/fused/attention.h"
#include "fuselage/ops/search/shortlist.h"
#include "fuselage/ops/structure/leaf.h"
#include "fuselage/ops/structure/positions.h"
#include "fuselage/ops/structure/rows.h"
#include "fuselage/ops/structure/shape.h"

namespace fuselage::cuda {
namespace {

/// select_rows, slice and reshape: rows through an index, from column `begin`.
class CopyRows final : public Kernel {
 public:
  CopyRows(const PlannedInstruction&, const Binding& binding)
      : begin_(binding.node.has<op::Range>() ? binding.node.as<op::Range>().begin : 0) {}

  void launch(const PlannedInstruction& in, const Run& run) const override {
    RowsIn x = rows_in(in, run, 0);
    x.data += begin_;
    if (x.fallback) x.fallback += begin_;
    copy_rows(run.stream, x, rows_of(in, run), cols_of(in), rows_out(in, run));
  }

 private:
  std::int64_t begin_;
};

/// expand, permute, and slices and transposes of matrices.
class StridedCopy final : public Kernel {
 public:
  StridedCopy(const PlannedInstruction&, const Binding& binding)
      : view_(device_strides(strided_view(binding.graph, binding.node))) {}

  void launch(const PlannedInstruction& in, const Run& run) const override {
    strided_copy(run.stream, rows_in(in, run, 0), view_, rows_of(in, run), cols_of(in),
                 rows_out(in, run));
  }

 private:
  DeviceStrides view_;
};

class SelectElements final : public Kernel {
 public:
  SelectElements(const PlannedInstruction&, const Binding& binding)
      : row_(binding.node.as<op::SelectElements>().row),
        element_(binding.node.as<op::SelectElements>().element) {}

  void launch(const PlannedInstruction& in, const Run& run) const override {
    select_elements(run.stream, all_rows(in, run, 0), index_path(row_, run),
                    index_path(element_, run), rows_of(in, run), rows_out(in, run));
  }

 private:
  MapPath row_, element_;
};

void run_concat(const PlannedInstruction& in, const Run& run) {
  RowsOut out = rows_out(in, run);
  for (std::size_t i = 0; i < in.operands.size(); ++i) {
    copy_rows(run.stream, rows_in(in, run, i), rows_of(in, run), in.operands[i].cols, out);
    out.data += in.operands[i].cols;
  }
}

/// concat of the last dimensions of matrices: the operands' vectors take turns.
class ConcatVectors final : public Kernel {
 public:
  ConcatVectors(const PlannedInstruction&, const Binding& binding) {
    for (const ValueId operand : binding.node.operands)
      parts_.push_back(binding.graph.value(operand).type.dims.back());
  }

  void launch(const PlannedInstruction& in, const Run& run) const override {
    const std::int64_t width = std::accumulate(parts_.begin(), parts_.end(), std::int64_t{0});
    RowsOut out = rows_out(in, run);
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      copy_vectors(run.stream, rows_in(in, run, i), rows_of(in, run), in.operands[i].cols,
                   parts_[i], width, out);
      out.data += parts_[i];
    }
  }

 private:
  std::vector<std::int64_t> parts_;  ///< elements of a vector of each operand
};

/// The caller's numbers, which are already in device memory.
class CopyInput final : public Kernel {
 public:
  CopyInput(const PlannedInstruction&, const Binding& binding)
      : index_(binding.graph.find_input(binding.node.as<op::Input>().name).value()) {}

  void launch(const PlannedInstruction& in, const Run& run) const override {
    const std::int64_t cols = cols_of(in);
    copy_rows(run.stream,
              {.data = run.rows.inputs[index_],
               .stride = cols,
               .columns = static_cast<std::int32_t>(cols)},
              rows_of(in, run), cols, rows_out(in, run));
  }

 private:
  std::size_t index_;
};

void run_position(const PlannedInstruction& in, const Run& run) {
  copy_positions(run.stream, run.rows[in.domain].positions, rows_of(in, run),
                 rows_out<std::int32_t>(in, run));
}

void run_sinusoid(const PlannedInstruction& in, const Run& run) {
  sinusoid(run.stream, rows_in<std::int32_t>(in, run, 0), rows_of(in, run), cols_of(in),
           rows_out(in, run));
}

class AddSinusoid final : public Kernel {
 public:
  AddSinusoid(const PlannedInstruction& in, const Binding& binding) : rounded_(in, binding) {}

  void launch(const PlannedInstruction& in, const Run& run) const override {
    add_sinusoid(run.stream, rows_in(in, run, 0), run.rows[in.domain].positions, rows_of(in, run),
                 rounded_.out(in, run, 0));
  }

 private:
  RoundedResults rounded_;
};

class Rotary final : public Kernel {
 public:
  Rotary(const PlannedInstruction&, const Binding& binding)
      : heads_(binding.node.as<op::Rotary>().heads) {}

  void launch(const PlannedInstruction& in, const Run& run) const override {
    rotary(run.stream, rows_in(in, run, 0), rows_in(in, run, 1), rows_in(in, run, 2),
           rows_of(in, run), heads_, in.operands[1].cols, rows_out(in, run));
  }

 private:
  std::int64_t heads_;
};

class HeadDot final : public Kernel {
 public:
  HeadDot(const PlannedInstruction&, const Binding& binding)
      : heads_(binding.node.as<op::Heads>().heads),
        scale_(static_cast<float>(binding.node.as<op::Heads>().scale)) {}

  void launch(const PlannedInstruction& in, const Run& run) const override {
    head_dot(run.stream, rows_in(in, run, 0), rows_in(in, run, 1), heads_, scale_, rows_of(in, run),
             rows_out(in, run));
  }

 private:
  std::int64_t heads_;
  float scale_;
};

/// Reduces the segments of a map: the result has a row for each segment.
class SegmentReduction : public Kernel {
 public:
  SegmentReduction(const PlannedInstruction&, const Binding& binding)
      : map_(binding.node.as<op::Segments>().to.front()) {}

 protected:
  Segments segments(const Run& run) const { return segments_of(map_, run); }

 private:
  MapId map_;
};

class MixRows final : public SegmentReduction {
 public:
  using SegmentReduction::SegmentReduction;
  void launch(const PlannedInstruction& in, const Run& run) const override {
    mix_rows(run.stream, all_rows(in, run, 0), rows_in(in, run, 1), cols_of(in), segments(run),
             rows_of(in, run), {.floats = rows_out(in, run), .rounded = {}});
  }
};

using ReduceRows = void (*)(cudaStream_t, const RowsIn&, std::int64_t, const Segments&, const Rows&,
                            const RowsOut&);

template <ReduceRows kReduce>
class RowReduction final : public SegmentReduction {
 public:
  using SegmentReduction::SegmentReduction;
  void launch(const PlannedInstruction& in, const Run& run) const override {
    kReduce(run.stream, all_rows(in, run, 0), cols_of(in), segments(run), rows_of(in, run),
            rows_out(in, run));
  }
};

const RegisterKernels kGatherKernels({
    {"copy_rows", make_kernel<CopyRows>},
    {"strided_copy", make_kernel<StridedCopy>},
    {"select_elements", make_kernel<SelectElements>},
    {"concat_vectors", make_kernel<ConcatVectors>},
    {"concat", make_kernel<StatelessKernel<run_concat>>},
    {"input", make_kernel<CopyInput>},
    {"position", make_kernel<StatelessKernel<run_position>>},
    {"sinusoid", make_kernel<StatelessKernel<run_sinusoid>>},
    {"add_sinusoid", make_kernel<AddSinusoid>},
    {"rotary", make_kernel<Rotary>},
    {"head_dot", make_kernel<HeadDot>},
    {"mix_rows", make_kernel<MixRows>},
    {"mean_rows", make_kernel<RowReduction<mean_rows>>},
    {"sum_rows", make_kernel<RowReduction<sum_rows>>},
    {"max_rows", make_kernel<RowReduction<max_rows>>},
    {"segment_log_sum_exp", make_kernel<RowReduction<segment_log_sum_exp>>},
});

}  // namespace
}  // namespace fuselage::cuda
