// The output layer with shortlists. Reads columns of the stored matrix in place.

#include "backends/cpu/kernels/kernel_families.h"
#include "backends/cpu/runtime/parts.h"
#include "backends/cpu/runtime/weight_operands.h"
#include "backends/cpu/simd/table.h"
#include "fuselage/backends/cpu/runtime/make_kernel.h"
#include "fuselage/backends/cpu/runtime/operands.h"
#include "fuselage/backends/plan/refusals.h"
#include "fuselage/base/quantized.h"
#include "fuselage/ops/matmul.h"
#include "fuselage/ops/output.h"
#include "fuselage/ops/rows.h"

namespace fuselage::cpu {
namespace {

/// shortlist_k_best. Rows are divided among threads; adjacent rows of a sentence share passes over
/// its words.
class ShortlistOutput final : public Kernel {
 public:
  ShortlistOutput(const PlannedInstruction& in, const Binding& binding)
      : ShortlistOutput(in, binding, binding.graph.value(binding.node.operands[0]).type.dims[0],
                        binding.graph.value(binding.node.operands[1]).type.dtype) {}

  void run(const PlannedInstruction& in, const Run& run) const override {
    MatrixColumns columns = columns_;
    columns.data = matrix_->bytes();
    const Segments pairs = segments_of(to_, run);
    const auto right = run.rows.index(words_[0]);
    const auto words = run.rows.index(words_[1]);
    const float* bias = in.operands.size() > 2 ? plain_in<const float>(in, run, 2) : nullptr;
    const RowsIn x = rows_in(in, run, 0);
    const std::size_t k = cols_of(in);
    // The words of a row are contiguous, so the first pair and their number determine them.
    const auto words_of = [&](std::size_t row) -> std::span<const std::int32_t> {
      const auto begin = static_cast<std::size_t>(pairs.begin[row]);
      const auto count = static_cast<std::size_t>(pairs.begin[row + 1]) - begin;
      if (count == 0) return {};
      return words.subspan(static_cast<std::size_t>(right[begin]), count);
    };
    in_parts(run, pairs.count, work_of(pairs), [&](std::size_t first, std::size_t last) {
      for (std::size_t row = first, end = first; row < last; row = end) {
        const std::span<const std::int32_t> list = words_of(row);
        while (end < last && words_of(end).data() == list.data()) ++end;
        run.kernels.shortlist_k_best(rows_from(x, row), end - row, columns, bias, list,
                                     log_softmax_, k, result_at(in, run, 0) + row * k,
                                     result_at<std::int32_t>(in, run, 1) + row * k);
      }
    });
  }

 private:
  ShortlistOutput(const PlannedInstruction& in, const Binding& binding, std::int64_t k, DType dtype)
      : matrix_(columns_operand(in, binding, 1,
                                {.k = k,
                                 .n = matrix_columns(binding.graph, binding.node.operands[1], k),
                                 .transposed = binding.node.as<op::Transposed>().transposed})),
        columns_(
            {.stride = vector_bytes(dtype, k), .k = static_cast<std::size_t>(k), .dtype = dtype}),
        to_(binding.node.as<op::Segments>().to.front()),
        words_(binding.node.as<op::ShortlistWords>().words),
        log_softmax_(binding.node.as<op::Scores>().log_softmax) {}

  /// Multiply-adds of the products of all pairs.
  std::size_t work_of(const Segments& pairs) const {
    const auto count = static_cast<std::size_t>(pairs.begin[pairs.count] - pairs.begin[0]);
    return count * columns_.k;
  }

  std::shared_ptr<const Tensor> matrix_;  ///< transposed: a row per column
  MatrixColumns columns_;                 ///< without data
  MapId to_;
  MapPath words_;  ///< from pairs through shortlists to words
  bool log_softmax_;
};

std::string refuse_shortlist_output(const Graph& graph, const Node& node) {
  if (graph.value(node.operands[1]).type.dtype == DType::f16) return "its matrix is of f16";
  return refuse_shortlist(graph, node);
}

using enum Reads;

constexpr KernelEntry kKernels[] = {
    {{.op = op::ShortlistKBest::kName,
      .name = "shortlist_output_layer",
      .reads = {view},
      .refuse = refuse_shortlist_output},
     make_kernel<ShortlistOutput>},
};

}  // namespace

std::span<const KernelEntry> shortlist_kernels() { return kKernels; }

}  // namespace fuselage::cpu
