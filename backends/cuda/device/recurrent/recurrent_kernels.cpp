#include <algorithm>

#include "backends/cuda/device/gather/copy.h"
#include "backends/cuda/device/gemm/device_weights.h"
#include "backends/cuda/device/kernel/bump_allocator.h"
#include "backends/cuda/device/kernel/kernel_registry.h"
#include "backends/cuda/device/kernel/operands.h"
#include "backends/cuda/device/recurrent/cudnn.h"
#include "backends/cuda/device/recurrent/recurrent_layer.h"
#include "fuselage/base/error.h"
#include "fuselage/ops/fused/recurrent.h"

namespace fuselage::cuda {
namespace {

/// The lengths of sentences, in descending order, from the first row of each iteration of a scan.
std::vector<int> lengths_of(std::span<const std::int32_t> iteration_begin) {
  check(!iteration_begin.empty(), "a scan without iterations");
  std::vector<int> lengths;
  for (std::size_t t = iteration_begin.size() - 1; t-- > 0;) {
    const auto rows = static_cast<std::size_t>(iteration_begin[t + 1] - iteration_begin[t]);
    lengths.resize(std::max(lengths.size(), rows), static_cast<int>(t) + 1);
  }
  return lengths;
}

/// A recurrent layer over a scan, by cuDNN. The rows of all iterations of the scan, in order, are
/// cuDNN's packed layout; the scan's map gives the source row of each.
class RecurrentLayer final : public Kernel {
 public:
  RecurrentLayer(const PlannedInstruction& in, const Binding& binding)
      : shape_(shape_of(binding)),
        scan_(scan_of(binding)),
        map_(binding.graph.map_of(scan_, MapKind::structural)) {
    // cuDNN reads lengths on the host, which a captured step does not allow.
    check(binding.graph.domain(in.domain).binding == BindingTime::source,
          "recurrent_layer: not in the source program");
    const auto numbers = [&](std::size_t operand) {
      return binding.weights.host_numbers(binding.plan, in.operands[operand]);
    };
    const Tensor w = numbers(1), u = numbers(2), b = numbers(3), c = numbers(4);
    const std::vector<std::byte> weights = recurrent_weights(
        shape_, {w.data<float>(), u.data<float>(), b.data<float>(), c.data<float>()});
    weights_ = {binding.weights.upload(weights.data(), weights.size()), weights.size()};
  }

  void launch(const PlannedInstruction& in, const Run& run) const override {
    const Rows rows = rows_of(in, run);
    const std::int32_t* index = run.rows[map_].index;
    BumpAllocator allocator(run.workspace);
    const auto [x, y] = take(allocator, rows.max_live);
    check(allocator.fits(), "recurrent_layer: the workspace is too small");
    RowsIn source = all_rows(in, run, 0);
    source.index = index;
    copy_rows(run.stream, source, rows, shape_.inputs, {.data = x, .stride = shape_.inputs});
    const std::vector<int> lengths = lengths_of(run.rows[scan_].iteration_begin);
    run.cudnn.run(run.stream, shape_, {.x = x, .y = y, .lengths = lengths, .weights = weights_});
    scatter_rows(run.stream, {.data = y, .stride = shape_.units, .columns = shape_.units}, index,
                 rows, shape_.units, rows_out(in, run));
  }

  std::size_t workspace_bytes(const PlannedInstruction& in,
                              const RowBounds& bounds) const override {
    BumpAllocator allocator;
    take(allocator, bounds[in.domain].max_live);
    return allocator.used_bytes();
  }

 private:
  static DomainId scan_of(const Binding& binding) {
    return binding.node.as<op::RecurrentLayer>().over;
  }

  static RecurrentShape shape_of(const Binding& binding) {
    const auto size = [&](std::size_t operand) {
      const Type& type = binding.graph.value(binding.node.operands[operand]).type;
      return static_cast<std::int32_t>(type.dims[0]);
    };
    return {recurrent_cell(binding.node), size(1), size(2)};
  }

  /// Memory for packed rows of x and y.
  std::pair<float*, float*> take(BumpAllocator& allocator, std::int64_t rows) const {
    float* x = allocator.allocate<float>(rows * shape_.inputs);
    return {x, allocator.allocate<float>(rows * shape_.units)};
  }

  RecurrentShape shape_;
  DomainId scan_;
  MapId map_;
  std::span<const std::byte> weights_;
};

const RegisterKernels kRecurrentKernels({{"recurrent_layer", make_kernel<RecurrentLayer>}});

}  // namespace
}  // namespace fuselage::cuda
