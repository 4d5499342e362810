#include "backends/cpu/product_kernels.h"

#include "backends/cpu/kernels/lookup.h"
#include "backends/cpu/operands.h"

namespace fuselage::cpu {
namespace {

std::int64_t last_dim(const Graph& graph, ValueId value) {
  return graph.value(value).type.dims.back();
}

/// Leading dimensions of a row count as further rows. Such values are no views, so that all their
/// vectors follow one another.
void multiply(const Instruction& in, const Run& run, const PackedMatrix& matrix) {
  RowsIn x = rows_in(in, run, 0);
  RowsOut out = rows_out(in, run);
  if (in.vectors > 1) {
    x.columns = x.stride = matrix.k();
    out.stride = matrix.n();
  }
  run.kernels.gemm(x, rows_of(in, run) * static_cast<std::size_t>(in.vectors), matrix, out);
}

}  // namespace

void bind_gemm(Instruction& in, const Binding& binding) {
  const bool transposed = binding.node.attr<bool>("transposed");
  const Buffer& weight = binding.plan.buffers[in.operands[1].buffer];
  const std::int64_t k = last_dim(binding.graph, binding.node.operands[0]);
  in.vectors = in.operands[0].cols / k;
  in.matrix = binding.matrices.get(weight.tensor, k, in.results[0].cols / in.vectors, transposed);
}

void run_gemm(const Instruction& in, const Run& run) { multiply(in, run, *in.matrix); }

std::string refuse_gemm(const Graph& graph, const Node& node) {
  if (graph.value(node.results[0]).type.dims.back() == 1)
    return "its matrix has one column, which would be padded to a panel";
  if (!graph.producer(node.operands[1]).has(Trait::external))
    return "its matrix is not stored, so it cannot be packed when the plan is made";
  return "";
}

std::string refuse_packing_gemm(const Graph& graph, const Node& node) {
  if (graph.value(node.results[0]).type.dims.back() == 1)
    return "its matrix has one column, which would be padded to a panel";
  if (graph.binding(node.results[0]) != BindingTime::load)
    return "it packs its matrix each time it runs";
  return "";
}

void bind_packing_gemm(Instruction& in, const Binding& binding) {
  in.integer = binding.node.attr<bool>("transposed");
  in.vectors = in.operands[0].cols / last_dim(binding.graph, binding.node.operands[0]);
}

void run_packing_gemm(const Instruction& in, const Run& run) {
  const auto vectors = static_cast<std::size_t>(in.vectors);
  const std::size_t k = static_cast<std::size_t>(in.operands[0].cols) / vectors;
  const std::size_t n = cols_of(in) / vectors;
  const bool transposed = in.integer != 0;
  const auto matrix = PackedMatrix::pack(data_at<const float>(in.operands[1], run, 0), k, n,
                                         transposed ? k : n, transposed);
  multiply(in, run, matrix);
}

std::string refuse_lookup_gemm(const Graph& graph, const Node& node) {
  if (graph.value(node.results[0]).type.dims[0] == 1)
    return "its matrix has one column, which would be padded to a panel";
  for (std::size_t i = 1; i < node.operands.size(); ++i)
    if (!graph.producer(node.operands[i]).has(Trait::external))
      return "its matrix or its table is not stored";
  return "";
}

void bind_lookup_gemm(Instruction& in, const Binding& binding) {
  bind_gemm(in, binding);
  in.counter = std::make_shared<LookupCounter>();
}

void run_lookup_gemm(const Instruction& in, const Run& run) {
  const std::size_t columns = in.matrix->n();
  const FrequentProducts table{.data = data_at<const float>(in.operands[2], run, 0),
                               .rows = static_cast<std::size_t>(in.operands[2].cols) / columns,
                               .rank = in.operands.size() > 3
                                           ? data_at<const std::int32_t>(in.operands[3], run, 0)
                                           : nullptr};
  const LookupCount count = lookup_products(run.kernels, rows_in(in, run, 0), rows_of(in, run),
                                            *in.matrix, table, rows_out(in, run));
  in.counter->lookups.fetch_add(count.lookups, std::memory_order_relaxed);
  in.counter->hits.fetch_add(count.hits, std::memory_order_relaxed);
}

}  // namespace fuselage::cpu
