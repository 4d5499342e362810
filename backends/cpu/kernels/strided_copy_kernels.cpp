// Copies of rows in another order of elements: expand, permute and slices of matrices.

#include <algorithm>
#include <vector>

#include "backends/cpu/kernels/kernel_families.h"
#include "fuselage/backends/cpu/runtime/make_kernel.h"
#include "fuselage/backends/cpu/runtime/operands.h"
#include "fuselage/backends/plan/refusals.h"
#include "fuselage/ops/quantize.h"
#include "fuselage/ops/shape.h"

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

using enum Reads;

constexpr KernelEntry entry(std::string_view op) {
  return {{.op = op, .name = "strided_copy", .reads = {view}, .refuse = needs_f32},
          make_kernel<StridedCopy>};
}

constexpr KernelEntry kKernels[] = {entry(op::Expand::kName), entry(op::Permute::kName),
                                    entry(op::Transpose::kName), entry(op::Slice::kName),
                                    entry(op::SliceLeading::kName)};

}  // namespace

std::span<const KernelEntry> strided_copy_kernels() { return kKernels; }

}  // namespace fuselage::cpu
