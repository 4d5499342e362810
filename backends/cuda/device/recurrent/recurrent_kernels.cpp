#include <algorithm>

#include "backends/cuda/device/gather/copy.h"
#include "backends/cuda/device/gemm/device_weights.h"
#include "backends/cuda/device/kernel/bump_allocator.h"
#include "backends/cuda/device/kernel/make_kernel.h"
#include "backends/cuda/device/kernel/operands.h"
#include "backends/cuda/device/recurrent/cudnn.h"
#include "backends/cuda/device/recurrent/recurrent_layer.h"
#include "base/error.h"

namespace fuselage::cuda {
namespace {

/// The lengths of sentences, longest first, by the first row of each iteration of a scan.
std::vector<int> lengths_of(std::span<const std::int32_t> iteration_begin) {
  check(!iteration_begin.empty(), "a scan without iterations");
  std::vector<int> lengths;
  for (std::size_t t = iteration_begin.size() - 1; t-- > 0;) {
    const auto rows = static_cast<std::size_t>(iteration_begin[t + 1] - iteration_begin[t]);
    lengths.resize(std::max(lengths.size(), rows), static_cast<int>(t) + 1);
  }
  return lengths;
}

/// A whole recurrent layer over a scan. Rows of all iterations, one behind the other, are what
/// cuDNN calls packed: the scan's map tells which row of the source each is.
class RecurrentLayer final : public Kernel {
 public:
  RecurrentLayer(const PlannedInstruction& in, const Binding& binding)
      : shape_(shape_of(binding)),
        map_(binding.graph.map_of(scan_of(binding), MapKind::structural)) {
    // cuDNN takes lengths from the host, which no captured step could hold: but only sentences have
    // scans, and what they are known by is not of a step.
    check(binding.graph.domain(in.domain).binding == BindingTime::source,
          "a recurrent layer in a step");
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
    Pieces pieces(run.workspace);
    const auto [x, y] = take(pieces, rows.most);
    check(pieces.fit(), "recurrent_layer: its workspace is too small");
    RowsIn source = all_rows(in, run, 0);
    source.index = index;
    copy_rows(run.stream, source, rows, shape_.inputs, {.data = x, .stride = shape_.inputs});
    const std::vector<int> lengths = lengths_of(run.rows.iteration_begin);
    run.cudnn.run(run.stream, shape_, {.x = x, .y = y, .lengths = lengths, .weights = weights_});
    scatter_rows(run.stream, {.data = y, .stride = shape_.units, .columns = shape_.units}, index,
                 rows, shape_.units, rows_out(in, run));
  }

  std::size_t workspace_bytes(const PlannedInstruction& in,
                              const RowBounds& bounds) const override {
    Pieces pieces;
    take(pieces, bounds[in.domain].most_live);
    return pieces.bytes();
  }

 private:
  static DomainId scan_of(const Binding& binding) { return binding.node.attr<DomainId>("over"); }

  static RecurrentShape shape_of(const Binding& binding) {
    const auto size = [&](std::size_t operand) {
      const Type& type = binding.graph.value(binding.node.operands[operand]).type;
      return static_cast<std::int32_t>(type.dims[0]);
    };
    return {recurrent_cell(binding.node), size(1), size(2)};
  }

  /// Rows that go in and come out.
  std::pair<float*, float*> take(Pieces& pieces, std::int64_t rows) const {
    float* x = pieces.take<float>(rows * shape_.inputs);
    return {x, pieces.take<float>(rows * shape_.units)};
  }

  RecurrentShape shape_;
  MapId map_;
  std::span<const std::byte> weights_;
};

constexpr KernelFactory kKernels[] = {{"recurrent_layer", make_kernel<RecurrentLayer>}};

}  // namespace

std::span<const KernelFactory> recurrent_kernels() { return kKernels; }

}  // namespace fuselage::cuda
