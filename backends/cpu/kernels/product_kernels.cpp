#include "backends/cpu/kernels/product_kernels.h"

#include "backends/cpu/runtime/operands.h"
#include "backends/cpu/simd/rows/lookup.h"
#include "backends/plan/refusals.h"
#include "base/quantized.h"

namespace fuselage::cpu {
namespace {

/// Leading dimensions of a row count as further rows. Such values are no views, so that all their
/// vectors follow one another.
void multiply(const Instruction& in, const Run& run, const PackedMatrix& matrix) {
  RowsIn x = rows_in(in, run, 0);
  RowsOut out = rows_out(in, run);
  if (in.vectors > 1) {
    x.columns = x.stride = matrix.row_elements();
    out.stride = matrix.n();
  }
  const std::size_t rows = rows_of(in, run) * static_cast<std::size_t>(in.vectors);
  in_panels(run, matrix, rows, [&](std::size_t first, std::size_t last) {
    run.kernels.gemm_panels(x, rows, matrix, first, last, out);
  });
}

}  // namespace

DType packed_type(const Type& x, const Type& w) {
  return w.dtype == DType::f16 || is_mixed(x, w) ? DType::f32 : w.dtype;
}

DType packed_type(const Graph& graph, const Node& node) {
  return packed_type(graph.value(node.operands[0]).type, graph.value(node.operands[1]).type);
}

void bind_gemm(Instruction& in, const Binding& binding) {
  const Type& x = binding.graph.value(binding.node.operands[0]).type;
  in.vectors = row_size(x) / x.dims.back();
  in.matrix = packed_operand(in, binding, 1,
                             {.k = x.dims.back(),
                              .n = in.results[0].cols / in.vectors,
                              .transposed = binding.node.attr<bool>("transposed"),
                              .dtype = packed_type(binding.graph, binding.node)});
}

void run_gemm(const Instruction& in, const Run& run) { multiply(in, run, *in.matrix); }

std::string refuse_gemm(const Graph& graph, const Node& node) {
  if (std::string reason = refuse_types(graph, node); !reason.empty()) return reason;
  if (graph.value(node.results[0]).type.dims.back() == 1)
    return "its matrix has one column, which would be padded to a panel";
  if (!graph.producer(node.operands[1]).has(Trait::external))
    return "its matrix is not stored, so it cannot be packed when the plan is made";
  return "";
}

std::string refuse_packing_gemm(const Graph& graph, const Node& node) {
  if (std::string reason = refuse_types(graph, node); !reason.empty()) return reason;
  if (is_mixed(graph.value(node.operands[0]).type, graph.value(node.operands[1]).type))
    return "its matrix is quantized, but not its rows";
  if (graph.value(node.results[0]).type.dims.back() == 1)
    return "its matrix has one column, which would be padded to a panel";
  if (graph.binding(node.results[0]) != BindingTime::load)
    return "it packs its matrix each time it runs";
  return "";
}

void bind_packing_gemm(Instruction& in, const Binding& binding) {
  const Type& x = binding.graph.value(binding.node.operands[0]).type;
  in.vectors = row_size(x) / x.dims.back();
  in.shape = {.k = x.dims.back(),
              .n = in.results[0].cols / in.vectors,
              .transposed = binding.node.attr<bool>("transposed"),
              .dtype = binding.graph.value(binding.node.operands[1]).type.dtype};
}

void run_packing_gemm(const Instruction& in, const Run& run) {
  multiply(in, run, pack(data_at<const std::byte>(in.operands[1], run, 0), in.shape));
}

void run_leading_rows(const Instruction& in, const Run& run) {
  const RowsIn x = all_rows(in, run, 0);
  const auto* rank =
      in.operands.size() > 1 ? data_at<const std::int32_t>(in.operands[1], run, 0) : nullptr;
  const std::size_t count = cols_of(in) / x.columns;
  const std::size_t entries =
      static_cast<std::size_t>(run.rows.rows(run.plan_buffers[in.operands[0].buffer].domain));
  for (std::size_t entry = 0; entry < entries; ++entry) {
    // As unsigned, so that a negative rank is beyond the end.
    const auto row = static_cast<std::uint32_t>(rank ? rank[entry] : static_cast<int>(entry));
    if (row < count)
      std::copy_n(x.data + entry * x.stride, x.columns, result_at(in, run) + row * x.columns);
  }
}

std::string refuse_lookup_gemm(const Graph& graph, const Node& node) {
  if (std::string reason = refuse_types(graph, node); !reason.empty()) return reason;
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

void run_row_dot(const Instruction& in, const Run& run) {
  run.kernels.head_dot(rows_in(in, run, 0), rows_in(in, run, 1), 1, 1.0f, rows_of(in, run),
                       static_cast<std::size_t>(in.operands[0].cols), rows_out(in, run));
}

}  // namespace fuselage::cpu
