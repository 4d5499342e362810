#include "backends/cpu/kernels/shortlist_kernel.h"

#include "backends/cpu/kernels/product_kernels.h"
#include "backends/cpu/runtime/operands.h"
#include "backends/cpu/weights/weight_region.h"
#include "backends/plan/refusals.h"
#include "base/quantized.h"

namespace fuselage::cpu {

/// The columns of a node's matrix, and where its words are.
struct ShortlistLayer {
  std::shared_ptr<const Tensor> matrix;  ///< a row for each column
  MatrixColumns columns;                 ///< but for where they are
  MapId right, word;                     ///< from pairs to shortlists, and from these to words
};

std::string refuse_columns(const Graph& graph, const Node& node) {
  if (graph.value(node.operands[1]).type.dtype == DType::f16) return "its matrix is of f16";
  return refuse_shortlist(graph, node);
}

void bind_shortlist(Instruction& in, const Binding& binding) {
  const Type& x = binding.graph.value(binding.node.operands[0]).type;
  const std::int64_t k = x.dims[0];
  const std::int64_t n = matrix_columns(binding.graph, binding.node.operands[1], k);
  const WeightType weight = weight_type(binding.graph, binding.plan.buffers[in.operands[1].buffer]);
  const auto& words = binding.node.attr<MapPath>("words");
  ShortlistLayer layer{.matrix = binding.node.attr<bool>("transposed")
                                     ? binding.weights.stored(weight)
                                     : binding.weights.columns(weight, k, n),
                       .columns = {.stride = vector_bytes(weight.dtype, k),
                                   .k = static_cast<std::size_t>(k),
                                   .dtype = weight.dtype},
                       .right = words[0],
                       .word = words[1]};
  in.has_own_form[1] = true;
  in.shortlist = std::make_shared<ShortlistLayer>(std::move(layer));
  in.map = binding.node.attr<MapPath>("to").front();
  in.integer = binding.node.attr<bool>("log_softmax");
}

namespace {

/// Multiply-adds for all rows.
std::size_t work_of(const ShortlistLayer& layer, const Segments& pairs) {
  const auto count = static_cast<std::size_t>(pairs.begin[pairs.count] - pairs.begin[0]);
  return count * layer.columns.k;
}

}  // namespace

/// Threads share the rows. Neighbouring rows of one sentence go over its words together.
void run_shortlist(const Instruction& in, const Run& run) {
  const ShortlistLayer& layer = *in.shortlist;
  MatrixColumns columns = layer.columns;
  columns.data = layer.matrix->bytes();
  const Segments pairs = segments_of(in, run);
  const auto right = run.rows.index(layer.right);
  const auto words = run.rows.index(layer.word);
  const float* bias = in.operands.size() > 2 ? plain_in<const float>(in, run, 2) : nullptr;
  const RowsIn x = rows_in(in, run, 0);
  const std::size_t k = cols_of(in);
  // The words of a row follow one another, so that the first says which they are.
  const auto words_of = [&](std::size_t row) -> std::span<const std::int32_t> {
    const auto begin = static_cast<std::size_t>(pairs.begin[row]);
    const auto count = static_cast<std::size_t>(pairs.begin[row + 1]) - begin;
    if (count == 0) return {};
    return words.subspan(static_cast<std::size_t>(right[begin]), count);
  };
  in_parts(run, pairs.count, work_of(layer, pairs), [&](std::size_t first, std::size_t last) {
    for (std::size_t row = first, end = first; row < last; row = end) {
      const std::span<const std::int32_t> list = words_of(row);
      while (end < last && words_of(end).data() == list.data()) ++end;
      run.kernels.shortlist_k_best(rows_from(x, row), end - row, columns, bias, list,
                                   in.integer != 0, k, result_at(in, run, 0) + row * k,
                                   result_at<std::int32_t>(in, run, 1) + row * k);
    }
  });
}

}  // namespace fuselage::cpu
