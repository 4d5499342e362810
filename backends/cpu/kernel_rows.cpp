#include "backends/cpu/kernel_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "backends/cpu/attention_kernels.h"
#include "backends/cpu/element_kernel.h"
#include "backends/cpu/ensemble_kernel.h"
#include "backends/cpu/kernels/copy.h"
#include "backends/cpu/operands.h"
#include "backends/cpu/output_kernel.h"
#include "backends/cpu/product_kernels.h"
#include "backends/cpu/quantize_kernels.h"
#include "backends/cpu/shortlist_kernel.h"
#include "backends/cpu/weight_region.h"
#include "backends/refusals.h"
#include "base/error.h"
#include "base/quantized.h"
#include "ops/evaluate.h"
#include "ops/formula.h"

namespace fuselage::cpu {
namespace {

// --- Kernels, one run function each ---

void bind_unary(Instruction& in, const Binding& binding) {
  in.unary = unary_named(binding.node.op->name).value();
}

void bind_binary(Instruction& in, const Binding& binding) {
  in.binary = binary_named(binding.node.op->name).value();
}

void run_unary(const Instruction& in, const Run& run) {
  run.kernels.unary(in.unary, rows_in(in, run, 0), rows_of(in, run), cols_of(in),
                    rows_out(in, run));
}

void run_binary(const Instruction& in, const Run& run) {
  run.kernels.binary(in.binary, rows_in(in, run, 0), rows_in(in, run, 1), rows_of(in, run),
                     cols_of(in), rows_out(in, run));
}

/// Why the formula of a node cannot run, whose operands but `matrix` are elements of it.
std::string refuse_formula(const Graph& graph, const Node& node, std::size_t matrix) {
  if (std::string reason = refuse_elements(graph, node, matrix); !reason.empty()) return reason;
  return ElementKernel::refuse(parse_formula(node.attr<std::string>("formula")));
}

std::string refuse_pointwise(const Graph& graph, const Node& node) {
  return refuse_formula(graph, node, node.operands.size());
}

/// `first`: the operand of the node that is x0, or where the product of a linear node stands.
void bind_elements(Instruction& in, const Binding& binding, std::size_t first) {
  std::vector<bool> scalar;
  for (std::size_t i = first; i < in.operands.size(); ++i)
    scalar.push_back(in.operands[i].cols != in.results[0].cols);
  if (first > 0) scalar[0] = false;
  in.elements = std::make_shared<ElementKernel>(
      parse_formula(binding.node.attr<std::string>("formula")), scalar);
}

void bind_pointwise(Instruction& in, const Binding& binding) { bind_elements(in, binding, 0); }

void run_pointwise(const Instruction& in, const Run& run) {
  std::array<RowsIn, kMostFormulaOperands> operands;
  std::array<RowsOut, kMostFormulaResults> results;
  for (std::size_t i = 0; i < in.operands.size(); ++i) operands[i] = rows_in(in, run, i);
  for (std::size_t i = 0; i < in.results.size(); ++i) results[i] = rows_out(in, run, i);
  in.elements->run(operands.data(), rows_of(in, run), cols_of(in), results.data());
}

std::string refuse_linear(const Graph& graph, const Node& node) {
  if (std::string reason = refuse_types(graph, node); !reason.empty()) return reason;
  if (!graph.producer(node.operands[1]).has(Trait::external))
    return "its matrix is not stored, so it cannot be packed when the plan is made";
  return refuse_formula(graph, node, 1);
}

void bind_linear(Instruction& in, const Binding& binding) {
  bind_gemm(in, binding);
  bind_elements(in, binding, 1);
}

/// Panels first … last - 1 of a linear layer in tiles of rows and columns: the product, then the
/// formula on it while it is in the cache.
void run_linear_panels(const Instruction& in, const Run& run, const PackedMatrix& matrix,
                       std::size_t first, std::size_t last) {
  constexpr std::size_t kRows = 96;
  constexpr std::size_t kColumns = 256;
  const std::size_t step = std::max<std::size_t>(kColumns / matrix.panel(), 1);
  const std::size_t rows = rows_of(in, run);
  std::array<RowsIn, kMostFormulaOperands> operands;
  std::array<RowsOut, kMostFormulaResults> results;
  for (std::size_t r = 0; r < rows; r += kRows) {
    const std::size_t n = std::min(kRows, rows - r);
    for (std::size_t i = 0; i < in.results.size(); ++i) {
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
}

void run_linear_with(const Instruction& in, const Run& run, const PackedMatrix& matrix) {
  in_panels(run, matrix, rows_of(in, run), [&](std::size_t first, std::size_t last) {
    run_linear_panels(in, run, matrix, first, last);
  });
}

void run_linear(const Instruction& in, const Run& run) { run_linear_with(in, run, *in.matrix); }

std::string refuse_packing_linear(const Graph& graph, const Node& node) {
  if (std::string reason = refuse_packing_gemm(graph, node); !reason.empty()) return reason;
  return refuse_formula(graph, node, 1);
}

void bind_packing_linear(Instruction& in, const Binding& binding) {
  bind_packing_gemm(in, binding);
  bind_elements(in, binding, 1);
}

void run_packing_linear(const Instruction& in, const Run& run) {
  run_linear_with(in, run, pack(data_at<const std::byte>(in.operands[1], run, 0), in.shape));
}

void run_row_dot(const Instruction& in, const Run& run) {
  run.kernels.head_dot(rows_in(in, run, 0), rows_in(in, run, 1), 1, 1.0f, rows_of(in, run),
                       static_cast<std::size_t>(in.operands[0].cols), rows_out(in, run));
}

void run_softmax(const Instruction& in, const Run& run) {
  run.kernels.softmax(rows_in(in, run, 0), rows_of(in, run), cols_of(in), rows_out(in, run));
}

void run_log_softmax(const Instruction& in, const Run& run) {
  run.kernels.log_softmax(rows_in(in, run, 0), rows_of(in, run), cols_of(in), rows_out(in, run));
}

void bind_epsilon(Instruction& in, const Binding& binding) {
  in.real = binding.node.attr<double>("epsilon");
}

void run_layer_norm(const Instruction& in, const Run& run) {
  const float* bias = in.operands.size() > 2 ? plain_in<const float>(in, run, 2) : nullptr;
  run.kernels.layer_norm(rows_in(in, run, 0), plain_in<const float>(in, run, 1), bias,
                         static_cast<float>(in.real), rows_of(in, run), cols_of(in),
                         rows_out(in, run));
}

/// Row by row, so that a row's sum is read again while it is in the cache.
void run_add_layer_norm(const Instruction& in, const Run& run) {
  const RowsIn a = rows_in(in, run, 0);
  const RowsIn b = rows_in(in, run, 1);
  const auto* gain = plain_in<const float>(in, run, 2);
  const float* bias = in.operands.size() > 3 ? plain_in<const float>(in, run, 3) : nullptr;
  const std::size_t cols = cols_of(in);
  const BinaryRow add = run.kernels.binary_row(Binary::add, a.columns != cols, b.columns != cols);
  const RowsOut norm = rows_out(in, run, 0);
  const RowsOut sum = rows_out(in, run, 1);
  for (std::size_t r = 0; r < rows_of(in, run); ++r) {
    float* row = sum.data + r * sum.stride;
    add(row_of(a, r, a.columns), row_of(b, r, b.columns), cols, row);
    run.kernels.layer_norm({row, 0, nullptr, nullptr, cols}, gain, bias,
                           static_cast<float>(in.real), 1, cols,
                           {norm.data + r * norm.stride, norm.stride});
  }
}

void run_rms_norm(const Instruction& in, const Run& run) {
  run.kernels.rms_norm(rows_in(in, run, 0), plain_in<const float>(in, run, 1),
                       static_cast<float>(in.real), rows_of(in, run), cols_of(in),
                       rows_out(in, run));
}

void bind_head_dot(Instruction& in, const Binding& binding) {
  in.integer = binding.node.attr<std::int64_t>("heads");
  in.real = binding.node.attr<double>("scale");
}

void run_head_dot(const Instruction& in, const Run& run) {
  run.kernels.head_dot(rows_in(in, run, 0), rows_in(in, run, 1),
                       static_cast<std::size_t>(in.integer), static_cast<float>(in.real),
                       rows_of(in, run), static_cast<std::size_t>(in.operands[0].cols),
                       rows_out(in, run));
}

void bind_to(Instruction& in, const Binding& binding) {
  in.map = binding.node.attr<MapPath>("to").front();
}

void run_segment_softmax(const Instruction& in, const Run& run) {
  run.kernels.segment_softmax(plain_in<const float>(in, run, 0), cols_of(in), segments_of(in, run),
                              result_at(in, run));
}

void run_mix(const Instruction& in, const Run& run) {
  RowsIn x = all_rows(in, run, 1);
  x.rows = run.indexes[static_cast<std::size_t>(in.operands[1].index)];
  run.kernels.mix_rows(data_at<const float>(in.operands[0], run, 0),
                       static_cast<std::size_t>(in.operands[0].cols), x, cols_of(in),
                       segments_of(in, run), rows_out(in, run));
}

void run_mean(const Instruction& in, const Run& run) {
  run.kernels.mean_rows(all_rows(in, run, 0), cols_of(in), segments_of(in, run), rows_out(in, run));
}

void run_copy(const Instruction& in, const Run& run) {
  copy_rows(rows_in(in, run, 0), rows_of(in, run), cols_of(in), rows_out(in, run));
}

/// A slice is a copy of some columns.
void bind_slice(Instruction& in, const Binding& binding) {
  in.operands[0].offset += binding.node.attr<std::int64_t>("begin");
  in.operands[0].cols = in.results[0].cols;
}

void run_concat(const Instruction& in, const Run& run) {
  RowsOut out = rows_out(in, run);
  for (std::size_t i = 0; i < in.operands.size(); ++i) {
    const auto cols = static_cast<std::size_t>(in.operands[i].cols);
    copy_rows(rows_in(in, run, i), rows_of(in, run), cols, out);
    out.data += cols;
  }
}

void run_position(const Instruction& in, const Run& run) {
  const auto positions = run.rows.positions(in.domain);
  std::copy(positions.begin(), positions.end(), result_at<std::int32_t>(in, run));
}

void run_sinusoid(const Instruction& in, const Run& run) {
  sinusoid(plain_in<const std::int32_t>(in, run, 0), rows_of(in, run), cols_of(in),
           rows_out(in, run));
}

void run_k_best(const Instruction& in, const Run& run) {
  run.kernels.k_best(rows_in(in, run, 0), rows_of(in, run),
                     static_cast<std::size_t>(in.operands[0].cols), cols_of(in),
                     result_at(in, run, 0), result_at<std::int32_t>(in, run, 1));
}

void run_log_sum_exp(const Instruction& in, const Run& run) {
  run.kernels.log_sum_exp(rows_in(in, run, 0), rows_of(in, run),
                          static_cast<std::size_t>(in.operands[0].cols), rows_out(in, run));
}

// --- Loops ---

/// Operand 0 is the initial value, operand 1 what the last iteration left.
void run_state(const Instruction& in, const Run& run) {
  const auto previous = run.rows.previous(in.domain);
  const RowsIn init = rows_in(in, run, 0);
  const Place& carried = in.operands[1];
  const float* last = reinterpret_cast<const float*>(run.buffers[carried.buffer]) + carried.offset;
  const std::size_t cols = cols_of(in);
  for (std::size_t r = 0; r < previous.size(); ++r) {
    const float* from =
        previous[r] >= 0 ? last + previous[r] * carried.stride : row_of(init, r, cols);
    std::copy_n(from, cols, result_at(in, run) + r * cols);
  }
}

/// Operand 0 is the new value; the result is what the next iteration reads.
void run_next(const Instruction& in, const Run& run) { run_copy(in, run); }

void run_collect(const Instruction& in, const Run& run) {
  const auto index = run.rows.index(in.map);
  const RowsIn x = rows_in(in, run, 0);
  const std::size_t cols = cols_of(in);
  for (std::size_t r = 0; r < index.size(); ++r)
    std::copy_n(row_of(x, r, cols), cols, data_at<float>(in.results[0], run, index[r]));
}

void bind_collect(Instruction& in, const Binding& binding) {
  in.map = binding.graph.map_of(in.domain, MapKind::structural);
}

void run_history(const Instruction& in, const Run& run) {
  const DomainId prefix = run.plan_buffers[in.results[0].buffer].domain;
  copy_rows(rows_in(in, run, 0), rows_of(in, run), cols_of(in),
            {data_at<float>(in.results[0], run, first_row(run, prefix)),
             static_cast<std::size_t>(in.results[0].stride)});
}

// --- The reference evaluation as a kernel ---

Array<float> dequantized(const RowsIn& from, std::int64_t rows, const Type& type) {
  Array<float> array(rows, row_size(type));
  const std::int64_t k = type.dims.back();
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto* vector =
        reinterpret_cast<const std::byte*>(row_of(from, static_cast<std::size_t>(r), from.columns));
    for (std::int64_t i = 0; i < array.cols; i += k, vector += vector_bytes(type.dtype, k))
      dequantize_vector(type.dtype, vector, k, array.row(r) + i);
  }
  return array;
}

Array<float> to_array(const Instruction& in, const Run& run, const Type& type,
                      std::size_t operand) {
  const Place& place = in.operands[operand];
  const bool same_rows = type.domain == in.domain;
  const std::int64_t rows = same_rows ? row_count(in, run) : run.rows.rows(type.domain);
  Array<float> array(rows, row_size(type));
  if (type.dtype == DType::i32) {
    const auto* from =
        data_at<const std::int32_t>(place, run, same_rows ? first_row(run, in.domain) : 0);
    std::copy_n(from, array.data.size(), array.data.begin());
    return array;
  }
  if (is_half(type.dtype)) {
    const auto* from = data_at<const std::uint16_t>(place, run, 0);
    std::transform(from, from + array.data.size(), array.data.begin(),
                   type.dtype == DType::bf16 ? bfloat16_to_float : half_to_float);
    return array;
  }
  const RowsIn from = same_rows ? rows_in(in, run, operand) : all_rows(in, run, operand);
  if (is_quantized(type.dtype)) return dequantized(from, rows, type);
  copy_rows(from, static_cast<std::size_t>(rows), static_cast<std::size_t>(place.cols),
            {array.data.data(), static_cast<std::size_t>(place.cols)});
  return array;
}

void run_reference(const Instruction& in, const Run& run) {
  const Node& node = in.graph->node(in.node);
  std::vector<Array<float>> operands;
  for (std::size_t i = 0; i < in.operands.size(); ++i)
    operands.push_back(to_array(in, run, in.graph->value(node.operands[i]).type, i));
  EvalContext<float> context{.graph = *in.graph, .node = node, .rows = run.rows};
  for (const auto& operand : operands) context.operands.push_back(&operand);
  for (const Place& result : in.results)
    context.results.emplace_back(row_count(in, run), result.cols);
  node.op->evaluate_f32(context);
  for (std::size_t i = 0; i < in.results.size(); ++i) {
    const auto& data = context.results[i].data;
    check(data.size() == static_cast<std::size_t>(row_count(in, run) * in.results[i].cols),
          "reference evaluation: a result of another size");
    if (in.graph->value(node.results[i]).type.dtype == DType::i32)
      std::copy(data.begin(), data.end(), result_at<std::int32_t>(in, run, i));
    else
      std::copy(data.begin(), data.end(), result_at(in, run, i));
  }
}

std::string refuse_reference(const Graph& graph, const Node& node) {
  for (const ValueId result : node.results)
    if (const DType dtype = graph.value(result).type.dtype; is_quantized(dtype) || is_half(dtype))
      return "its result is quantized or of 16 bits";
  return node.op->evaluate_f32 ? "" : "the op has no reference evaluation";
}

constexpr std::uint32_t kFirst = 1;
constexpr std::uint32_t kSecond = 2;
constexpr std::uint32_t kFirstTwo = 3;
constexpr std::uint32_t kFirstThree = 7;
constexpr std::uint32_t kFourth = 8;
constexpr std::uint32_t kAll = KernelInfo::kAllViews;

// Best first; the reference last. "view" rows are resolved by the plan: they cost nothing.
constexpr KernelRow kRows[] = {
    {{"matmul", "packed_gemm", kFirst, refuse_gemm}, bind_gemm, run_gemm},
    {{"matmul", "packing_gemm", kFirst, refuse_packing_gemm}, bind_packing_gemm, run_packing_gemm},
    {{"leading_rows", "leading_rows", 0}, nullptr, run_leading_rows},
    {{"lookup_matmul", "lookup_gemm", 0, refuse_lookup_gemm, kFirst},
     bind_lookup_gemm,
     run_lookup_gemm},
    {{"matmul", "row_dot", kFirst, refuse_row_dot}, nullptr, run_row_dot},
    {{"quantize", "quantize_rows", kFirst, refuse_quantize}, bind_quantize, run_quantize},
    {{"quantize", "quantize_each", kFirst}, bind_quantize, run_quantize_each},
    {{"dequantize", "dequantize_rows", kFirst}, bind_dequantize, run_dequantize},
    {{"cast", "cast", 0}, nullptr, run_cast},
    {{"add", "binary", kFirstTwo, needs_vectors}, bind_binary, run_binary},
    {{"sub", "binary", kFirstTwo, needs_vectors}, bind_binary, run_binary},
    {{"mul", "binary", kFirstTwo, needs_vectors}, bind_binary, run_binary},
    {{"div", "binary", kFirstTwo, needs_vectors}, bind_binary, run_binary},
    {{"max", "binary", kFirstTwo, needs_vectors}, bind_binary, run_binary},
    {{"min", "binary", kFirstTwo, needs_vectors}, bind_binary, run_binary},
    {{"neg", "unary", kFirst}, bind_unary, run_unary},
    {{"sigmoid", "unary", kFirst}, bind_unary, run_unary},
    {{"tanh", "unary", kFirst}, bind_unary, run_unary},
    {{"sigmoid_fast", "unary", kFirst}, bind_unary, run_unary},
    {{"tanh_fast", "unary", kFirst}, bind_unary, run_unary},
    {{"sigmoid_table", "unary", kFirst}, bind_unary, run_unary},
    {{"tanh_table", "unary", kFirst}, bind_unary, run_unary},
    {{"relu", "unary", kFirst}, bind_unary, run_unary},
    {{"swish", "unary", kFirst}, bind_unary, run_unary},
    {{"gelu", "unary", kFirst}, bind_unary, run_unary},
    {{"exp", "unary", kFirst}, bind_unary, run_unary},
    {{"log", "unary", kFirst}, bind_unary, run_unary},
    {{"sqrt", "unary", kFirst}, bind_unary, run_unary},
    {{"abs", "unary", kFirst}, bind_unary, run_unary},
    {{"pointwise", "elements", kAll, refuse_pointwise}, bind_pointwise, run_pointwise},
    {{"linear", "packed_gemm_elements", ~kSecond, refuse_linear}, bind_linear, run_linear},
    {{"linear", "packing_gemm_elements", ~kSecond, refuse_packing_linear},
     bind_packing_linear,
     run_packing_linear},
    {{"softmax", "softmax", kFirst, needs_vector_input}, nullptr, run_softmax},
    {{"log_softmax", "log_softmax", kFirst, needs_vector_input}, nullptr, run_log_softmax},
    {{"layer_norm", "layer_norm", kFirst}, bind_epsilon, run_layer_norm},
    {{"add_layer_norm", "add_layer_norm", kFirstTwo}, bind_epsilon, run_add_layer_norm},
    {{"rms_norm", "rms_norm", kFirst}, bind_epsilon, run_rms_norm},
    {{"head_dot", "head_dot", kFirstTwo}, bind_head_dot, run_head_dot},
    {{"segment_softmax", "segment_softmax", 0}, bind_to, run_segment_softmax},
    {{"additive_attention", "additive_attention", 0, refuse_additive_attention,
      kFirstTwo | kFourth},
     bind_left,
     run_additive_attention},
    {{"dot_attention", "dot_attention", 0, nullptr, kFirstThree},
     bind_dot_attention,
     run_dot_attention},
    {{"mix_rows", "mix_rows", 0, nullptr, kSecond}, bind_to, run_mix},
    {{"mean_rows", "mean_rows", 0, needs_vector_input}, bind_to, run_mean},
    {{"select_rows", "copy_rows", 0, needs_real, kFirst}, nullptr, run_copy},
    {{"slice", "copy_rows", kFirst, needs_vector_input}, bind_slice, run_copy},
    {{"concat", "copy_rows", kAll, needs_vectors}, nullptr, run_concat},
    {{"position", "position", 0}, nullptr, run_position},
    {{"sinusoid", "sinusoid", 0}, nullptr, run_sinusoid},
    {{"k_best", "k_best", kFirst}, nullptr, run_k_best},
    {{"log_sum_exp", "log_sum_exp", kFirst}, nullptr, run_log_sum_exp},
    {{"linear_k_best", "output_layer", kFirst, refuse_output_layer},
     bind_output_layer,
     run_output_layer},
    {{"shortlist_k_best", "shortlist_output_layer", kFirst, refuse_columns},
     bind_shortlist,
     run_shortlist},
    {{"ensemble_k_best", "output_layers", kAll, refuse_layers}, bind_ensemble, run_ensemble},
    {{"state", "state", 0, needs_f32}, nullptr, run_state},
    {{"next", "next", kAll, needs_f32}, nullptr, run_next},
    {{"collect", "scatter_rows", kFirst, needs_f32}, bind_collect, run_collect},
    {{"history", "append_rows", kFirst, needs_f32}, nullptr, run_history},
    {{"*", "reference", 0, refuse_reference}, nullptr, run_reference},
};

}  // namespace

std::span<const KernelRow> kernel_rows() { return kRows; }

KernelSet kernel_set(std::span<const KernelRow> first) {
  KernelSet kernels;
  for (const std::span<const KernelRow> rows : {first, kernel_rows()})
    for (const KernelRow& row : rows) kernels.push_back(&row);
  return kernels;
}

std::shared_ptr<const PackedMatrix> packed_operand(Instruction& in, const Binding& binding,
                                                   std::size_t operand, const MatrixShape& shape) {
  in.has_own_form[operand] = true;
  const Buffer& buffer = binding.plan.buffers[in.operands[operand].buffer];
  return binding.weights.packed(weight_type(binding.graph, buffer), shape);
}

}  // namespace fuselage::cpu
