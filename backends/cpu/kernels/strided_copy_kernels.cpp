// Copies of rows in another order of elements: expand, permute, slices and concatenations of
// matrices.

#include <algorithm>
#include <numeric>
#include <vector>

#include "backends/cpu/kernels/kernel_families.h"
#include "fuselage/backends/cpu/runtime/make_kernel.h"
#include "fuselage/backends/cpu/runtime/operands.h"
#include "fuselage/backends/plan/refusals.h"
#include "fuselage/ops/precision/quantize.h"
#include "fuselage/ops/structure/shape.h"

namespace fuselage::cpu {
namespace {

/// Copies runs of elements at equal distances. The first elements of the runs are known when the
/// program is made.
class StridedCopy final : public Kernel {
 public:
  StridedCopy(const PlannedInstruction&, const Binding& binding)
      : StridedCopy(strided_view(binding.graph, binding.node)) {}

  void run(const PlannedInstruction& in, const Run& run) const override {
    const RowsIn x = rows_in(in, run, 0);
    const RowsOut out = rows_out(in, run);
    for (std::size_t r = 0; r < rows_of(in, run); ++r)
      copy(row_of(x, r, x.columns), out.data + r * out.stride);
  }

 private:
  explicit StridedCopy(StridedView view)
      : length_(view.sizes.back()), stride_(view.strides.back()) {
    view.sizes.pop_back();
    view.strides.pop_back();
    starts_ = elements_of(view);
  }

  void copy(const float* from, float* to) const {
    for (const std::int64_t start : starts_) {
      const float* x = from + start;
      if (stride_ == 1)
        std::copy_n(x, length_, to);
      else if (stride_ == 0)
        std::fill_n(to, length_, *x);
      else
        for (std::int64_t i = 0; i < length_; ++i) to[i] = x[i * stride_];
      to += length_;
    }
  }

  std::vector<std::int64_t> starts_;
  std::int64_t length_, stride_;
};

/// concat of the last dimensions of matrices: the operands' vectors take turns.
class ConcatVectors final : public Kernel {
 public:
  ConcatVectors(const PlannedInstruction&, const Binding& binding) {
    for (const ValueId operand : binding.node.operands)
      parts_.push_back(binding.graph.value(operand).type.dims.back());
  }

  void run(const PlannedInstruction& in, const Run& run) const override {
    const RowsOut out = rows_out(in, run);
    const std::int64_t width = std::accumulate(parts_.begin(), parts_.end(), std::int64_t{0});
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      const RowsIn x = rows_in(in, run, i);
      for (std::size_t r = 0; r < rows_of(in, run); ++r) {
        const float* from = row_of(x, r, x.columns);
        float* to = out.data + r * out.stride + offset;
        for (const float* end = from + x.columns; from != end; from += parts_[i], to += width)
          std::copy_n(from, parts_[i], to);
      }
      offset += parts_[i];
    }
  }

 private:
  std::vector<std::int64_t> parts_;  ///< elements of a vector of each operand
};

using enum Reads;

constexpr KernelEntry entry(std::string_view op) {
  return {{.op = op, .name = "strided_copy", .reads = {view}, .refuse = needs_f32},
          make_kernel<StridedCopy>};
}

}  // namespace

std::span<const KernelEntry> strided_copy_kernels() {
  static constexpr KernelEntry kKernels[] = {
      entry(op::Expand::kName),
      entry(op::Permute::kName),
      entry(op::Transpose::kName),
      entry(op::Slice::kName),
      entry(op::SliceLeading::kName),
      {{.op = op::Concat::kName, .name = "concat_vectors", .reads = all_operands(view)},
       make_kernel<ConcatVectors>}};
  return kKernels;
}

}  // namespace fuselage::cpu
