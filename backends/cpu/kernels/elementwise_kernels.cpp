#include "backends/cpu/kernels/elementwise_kernels.h"

#include <algorithm>
#include <array>

#include "backends/cpu/kernels/elementwise_tiles.h"
#include "backends/cpu/kernels/product_kernels.h"
#include "backends/cpu/kernels/quantize_kernels.h"
#include "backends/cpu/runtime/operands.h"
#include "backends/plan/refusals.h"
#include "ops/elementwise_expression.h"

namespace fuselage::cpu {
namespace {

/// Why the expression of a node cannot run, whose operands but `matrix` are elements of it.
std::string refuse_expression(const Graph& graph, const Node& node, std::size_t matrix) {
  if (std::string reason = refuse_elements(graph, node, matrix); !reason.empty()) return reason;
  return ElementKernel::refuse(parse_expression(node.attr<std::string>("expression")));
}

/// `first`: the operand of the node that is x0, or where the product of a linear node stands.
void bind_elements(Instruction& in, const Binding& binding, std::size_t first) {
  std::vector<bool> scalar;
  for (std::size_t i = first; i < in.operands.size(); ++i)
    scalar.push_back(in.operands[i].cols != in.results[0].cols);
  if (first > 0) scalar[0] = false;
  in.elements = std::make_shared<ElementKernel>(
      parse_expression(binding.node.attr<std::string>("expression")), scalar);
  bind_quantized_results(in, binding);
}

/// Panels first … last - 1 of a linear layer for `n` rows from `r` on, in tiles of columns: the
/// product, then the expression on it while it is in the cache.
void run_linear_tiles(const Instruction& in, const Run& run, const PackedMatrix& matrix,
                      std::size_t first, std::size_t last, std::size_t r, std::size_t n) {
  constexpr std::size_t kColumns = 256;
  const std::size_t step = std::max<std::size_t>(kColumns / matrix.panel(), 1);
  std::array<RowsIn, kMaxExpressionOperands> operands;
  std::array<RowsOut, kMaxExpressionResults> results;
  for (std::size_t i = 0; i < in.elements->result_count(); ++i) {
    results[i] = rows_out(in, run, i);
    results[i].data += r * results[i].stride;
  }
  for (std::size_t i = 2; i < in.operands.size(); ++i)
    operands[i - 1] = rows_from(rows_in(in, run, i), r);
  operands[0] = {.data = results[0].data, .stride = results[0].stride, .columns = matrix.n()};
  const RowsIn x = rows_from(rows_in(in, run, 0), r);
  for (std::size_t p = first; p < last; p += step) {
    const std::size_t end = std::min(p + step, last);
    const std::size_t column = p * matrix.panel();
    run.kernels.gemm_panels(x, n, matrix, p, end, results[0]);
    in.elements->run_columns(operands.data(), n, column,
                             std::min(end * matrix.panel(), matrix.n()) - column, results.data());
  }
}

/// Rows are quantized when all their columns are there.
void run_linear_with(const Instruction& in, const Run& run, const PackedMatrix& matrix) {
  constexpr std::size_t kRows = 96;
  const std::size_t rows = rows_of(in, run);
  const bool shared = is_worth_parts(run, work_of(matrix, rows));
  in_panels(run, matrix, rows, [&](std::size_t first, std::size_t last) {
    for (std::size_t r = 0; r < rows; r += kRows) {
      const std::size_t n = std::min(kRows, rows - r);
      run_linear_tiles(in, run, matrix, first, last, r, n);
      if (!shared) quantize_results(in, run, r, r + n);
    }
  });
  if (shared) quantize_results(in, run);
}

}  // namespace

void bind_unary(Instruction& in, const Binding& binding) {
  in.unary = unary_named(binding.node.op->name).value();
}

void run_unary(const Instruction& in, const Run& run) {
  run.kernels.unary(in.unary, rows_in(in, run, 0), rows_of(in, run), cols_of(in),
                    rows_out(in, run));
}

void bind_binary(Instruction& in, const Binding& binding) {
  in.binary = binary_named(binding.node.op->name).value();
}

void run_binary(const Instruction& in, const Run& run) {
  run.kernels.binary(in.binary, rows_in(in, run, 0), rows_in(in, run, 1), rows_of(in, run),
                     cols_of(in), rows_out(in, run));
}

std::string refuse_pointwise(const Graph& graph, const Node& node) {
  return refuse_expression(graph, node, node.operands.size());
}

void bind_pointwise(Instruction& in, const Binding& binding) { bind_elements(in, binding, 0); }

void run_pointwise(const Instruction& in, const Run& run) {
  std::array<RowsIn, kMaxExpressionOperands> operands;
  std::array<RowsOut, kMaxExpressionResults> results;
  for (std::size_t i = 0; i < in.operands.size(); ++i) operands[i] = rows_in(in, run, i);
  for (std::size_t i = 0; i < in.elements->result_count(); ++i) results[i] = rows_out(in, run, i);
  const std::size_t rows = rows_of(in, run);
  // So many rows are still in the L1 cache when they are quantized.
  const std::size_t step = in.quantized.empty() ? rows : 8;
  for (std::size_t r = 0; r < rows; r += step) {
    const std::size_t n = std::min(step, rows - r);
    in.elements->run(operands.data(), n, cols_of(in), results.data());
    quantize_results(in, run, r, r + n);
    for (std::size_t i = 0; i < in.operands.size(); ++i) operands[i] = rows_from(operands[i], n);
    for (RowsOut& out : results) out.data += n * out.stride;
  }
}

std::string refuse_linear(const Graph& graph, const Node& node) {
  if (std::string reason = refuse_types(graph, node); !reason.empty()) return reason;
  if (!graph.producer(node.operands[1]).has(Trait::external))
    return "its matrix is not stored, so it cannot be packed when the plan is made";
  return refuse_expression(graph, node, 1);
}

void bind_linear(Instruction& in, const Binding& binding) {
  bind_gemm(in, binding);
  bind_elements(in, binding, 1);
}

void run_linear(const Instruction& in, const Run& run) { run_linear_with(in, run, *in.matrix); }

std::string refuse_packing_linear(const Graph& graph, const Node& node) {
  if (std::string reason = refuse_packing_gemm(graph, node); !reason.empty()) return reason;
  return refuse_expression(graph, node, 1);
}

void bind_packing_linear(Instruction& in, const Binding& binding) {
  bind_packing_gemm(in, binding);
  bind_elements(in, binding, 1);
}

void run_packing_linear(const Instruction& in, const Run& run) {
  run_linear_with(in, run, pack(data_at<const std::byte>(in.operands[1], run, 0), in.shape));
}

}  // namespace fuselage::cpu
