#include "backends/cpu/kernel_rows.h"

#include <algorithm>
#include <array>
#include <utility>

#include "backends/cpu/kernels/copy.h"
#include "base/error.h"
#include "ops/evaluate.h"

namespace fuselage::cpu {
namespace {

// --- Places at run time ---

std::int64_t first_row(const Run& run, DomainId domain) { return run.rows.first_new(domain); }

std::int64_t row_count(const Instruction& in, const Run& run) {
  return run.rows.rows(in.domain) - first_row(run, in.domain);
}

std::size_t rows_of(const Instruction& in, const Run& run) {
  return static_cast<std::size_t>(row_count(in, run));
}

/// First element of a place for the rows from `row` on.
template <typename T>
T* data_at(const Place& place, const Run& run, std::int64_t row) {
  const Buffer& buffer = run.plan_buffers[place.buffer];
  if (buffer.newest_only) row -= first_row(run, buffer.domain);
  return reinterpret_cast<T*>(run.buffers[place.buffer]) + place.offset + row * place.stride;
}

/// An operand as kernels take it, for the rows that the instruction computes.
RowsIn rows_in(const Instruction& in, const Run& run, std::size_t operand) {
  const Place& place = in.operands[operand];
  const std::int64_t row = first_row(run, in.domain);
  RowsIn rows{.stride = static_cast<std::size_t>(place.stride),
              .columns = static_cast<std::size_t>(place.cols)};
  if (place.index == kNone) {
    rows.data = data_at<const float>(place, run, place.stride == 0 ? 0 : row);
    return rows;
  }
  rows.data = data_at<const float>(place, run, 0);
  rows.rows = run.indexes[static_cast<std::size_t>(place.index)] + row;
  if (place.fallback_buffer != kNone)
    rows.fallback = reinterpret_cast<const float*>(
                        run.buffers[static_cast<std::size_t>(place.fallback_buffer)]) +
                    place.offset;
  return rows;
}

template <typename T = float>
T* plain_in(const Instruction& in, const Run& run, std::size_t operand) {
  const Place& place = in.operands[operand];
  return data_at<T>(place, run, place.stride == 0 ? 0 : first_row(run, in.domain));
}

/// All rows of an operand that another domain's rows are gathered from.
RowsIn all_rows(const Instruction& in, const Run& run, std::size_t operand) {
  const Place& place = in.operands[operand];
  return {.data = data_at<const float>(place, run, 0),
          .stride = static_cast<std::size_t>(place.stride),
          .columns = static_cast<std::size_t>(place.cols)};
}

template <typename T = float>
T* result_at(const Instruction& in, const Run& run, std::size_t result = 0) {
  const Place& place = in.results[result];
  return data_at<T>(place, run, place.stride == 0 ? 0 : first_row(run, in.domain));
}

RowsOut rows_out(const Instruction& in, const Run& run) {
  return {result_at(in, run), static_cast<std::size_t>(in.results[0].stride)};
}

std::size_t cols_of(const Instruction& in) { return static_cast<std::size_t>(in.results[0].cols); }

Segments segments_of(const Instruction& in, const Run& run) {
  const auto begin = run.rows.segments(in.map);
  return {begin.data(), begin.size() - 1};
}

// --- Refusals ---

bool one_vector_a_row(const Graph& graph, ValueId value) {
  const Type& type = graph.value(value).type;
  return type.dims.size() == 1 && type.dtype == DType::f32;
}

std::string needs_vectors(const Graph& graph, const Node& node) {
  for (const ValueId operand : node.operands)
    if (graph.value(operand).type.dims.size() > 1) return "it works on one vector a row";
  return "";
}

std::string needs_vector_input(const Graph& graph, const Node& node) {
  return one_vector_a_row(graph, node.operands[0]) ? "" : "it works on one vector a row";
}

std::string needs_f32(const Graph& graph, const Node& node) {
  return graph.value(node.operands[0]).type.dtype == DType::f32 ? "" : "it works on f32";
}

// --- Kernels, one run function each ---

template <typename Op>
Op op_by_name(std::string_view name, std::span<const std::pair<std::string_view, Op>> table) {
  for (const auto& [known, op] : table)
    if (known == name) return op;
  check(false, "an op has no kernel of its name");
  return table[0].second;
}

void bind_unary(Instruction& in, const Binding& binding) {
  static constexpr std::pair<std::string_view, Unary> kOps[] = {
      {"neg", Unary::neg},   {"sigmoid", Unary::sigmoid}, {"tanh", Unary::tanh},
      {"relu", Unary::relu}, {"swish", Unary::swish},     {"gelu", Unary::gelu},
      {"exp", Unary::exp},   {"log", Unary::log},         {"sqrt", Unary::sqrt},
      {"abs", Unary::abs}};
  in.unary = op_by_name<Unary>(binding.node.op->name, kOps);
}

void bind_binary(Instruction& in, const Binding& binding) {
  static constexpr std::pair<std::string_view, Binary> kOps[] = {
      {"add", Binary::add}, {"sub", Binary::sub}, {"mul", Binary::mul},
      {"div", Binary::div}, {"max", Binary::max}, {"min", Binary::min}};
  in.binary = op_by_name<Binary>(binding.node.op->name, kOps);
}

void run_unary(const Instruction& in, const Run& run) {
  run.kernels.unary(in.unary, rows_in(in, run, 0), rows_of(in, run), cols_of(in),
                    rows_out(in, run));
}

void run_binary(const Instruction& in, const Run& run) {
  run.kernels.binary(in.binary, rows_in(in, run, 0), rows_in(in, run, 1), rows_of(in, run),
                     cols_of(in), rows_out(in, run));
}

void bind_gemm(Instruction& in, const Binding& binding) {
  const bool transposed = binding.node.attr<bool>("transposed");
  const Buffer& weight = binding.plan.buffers[in.operands[1].buffer];
  const std::int64_t k = in.operands[0].cols;
  in.matrix = binding.matrices.get(weight.tensor, k, in.results[0].cols, transposed);
}

void run_gemm(const Instruction& in, const Run& run) {
  run.kernels.gemm(rows_in(in, run, 0), rows_of(in, run), *in.matrix, rows_out(in, run));
}

std::string refuse_gemm(const Graph& graph, const Node& node) {
  if (graph.value(node.results[0]).type.dims.back() == 1)
    return "its matrix has one column, which would be padded to a panel";
  if (!graph.producer(node.operands[1]).has(Trait::external))
    return "its matrix is not stored, so it cannot be packed when the plan is made";
  return needs_vector_input(graph, node);
}

/// A matrix of one column: a dot product a row.
std::string refuse_row_dot(const Graph& graph, const Node& node) {
  if (graph.value(node.results[0]).type.dims.back() != 1) return "its matrix has several columns";
  return needs_vector_input(graph, node);
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
  in.domain = binding.graph.value(binding.node.operands[0]).type.domain;
  in.map = binding.graph.map_of(in.domain, MapKind::structural);
}

void run_history(const Instruction& in, const Run& run) {
  const DomainId prefix = run.plan_buffers[in.results[0].buffer].domain;
  copy_rows(rows_in(in, run, 0), rows_of(in, run), cols_of(in),
            {data_at<float>(in.results[0], run, first_row(run, prefix)),
             static_cast<std::size_t>(in.results[0].stride)});
}

void bind_history(Instruction& in, const Binding& binding) {
  in.domain = binding.graph.value(binding.node.operands[0]).type.domain;
}

// --- The reference evaluation as a kernel ---

Array<float> to_array(const Instruction& in, const Run& run, const Type& type,
                      std::size_t operand) {
  const Place& place = in.operands[operand];
  const bool same_rows = type.domain == in.domain;
  const std::int64_t rows = same_rows ? row_count(in, run) : run.rows.rows(type.domain);
  Array<float> array(rows, place.cols);
  if (type.dtype == DType::i32) {
    const auto* from =
        data_at<const std::int32_t>(place, run, same_rows ? first_row(run, in.domain) : 0);
    std::copy_n(from, array.data.size(), array.data.begin());
    return array;
  }
  const RowsIn from = same_rows ? rows_in(in, run, operand) : all_rows(in, run, operand);
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
    if (in.graph->value(node.results[i]).type.dtype == DType::i32)
      std::copy(data.begin(), data.end(), result_at<std::int32_t>(in, run, i));
    else
      std::copy(data.begin(), data.end(), result_at(in, run, i));
  }
}

std::string refuse_reference(const Graph&, const Node& node) {
  return node.op->evaluate_f32 ? "" : "the op has no reference evaluation";
}

constexpr std::uint32_t kFirst = 1;
constexpr std::uint32_t kFirstTwo = 3;
constexpr std::uint32_t kAll = KernelRow::kAllViews;

// Best first; the reference last. "view" rows are resolved by the plan: they cost nothing.
constexpr KernelRow kRows[] = {
    {"matmul", "packed_gemm", kFirst, refuse_gemm, bind_gemm, run_gemm},
    {"matmul", "row_dot", kFirst, refuse_row_dot, nullptr, run_row_dot},
    {"add", "binary", kFirstTwo, needs_vectors, bind_binary, run_binary},
    {"sub", "binary", kFirstTwo, needs_vectors, bind_binary, run_binary},
    {"mul", "binary", kFirstTwo, needs_vectors, bind_binary, run_binary},
    {"div", "binary", kFirstTwo, needs_vectors, bind_binary, run_binary},
    {"max", "binary", kFirstTwo, needs_vectors, bind_binary, run_binary},
    {"min", "binary", kFirstTwo, needs_vectors, bind_binary, run_binary},
    {"neg", "unary", kFirst, nullptr, bind_unary, run_unary},
    {"sigmoid", "unary", kFirst, nullptr, bind_unary, run_unary},
    {"tanh", "unary", kFirst, nullptr, bind_unary, run_unary},
    {"relu", "unary", kFirst, nullptr, bind_unary, run_unary},
    {"swish", "unary", kFirst, nullptr, bind_unary, run_unary},
    {"gelu", "unary", kFirst, nullptr, bind_unary, run_unary},
    {"exp", "unary", kFirst, nullptr, bind_unary, run_unary},
    {"log", "unary", kFirst, nullptr, bind_unary, run_unary},
    {"sqrt", "unary", kFirst, nullptr, bind_unary, run_unary},
    {"abs", "unary", kFirst, nullptr, bind_unary, run_unary},
    {"softmax", "softmax", kFirst, needs_vector_input, nullptr, run_softmax},
    {"log_softmax", "log_softmax", kFirst, needs_vector_input, nullptr, run_log_softmax},
    {"layer_norm", "layer_norm", kFirst, nullptr, bind_epsilon, run_layer_norm},
    {"rms_norm", "rms_norm", kFirst, nullptr, bind_epsilon, run_rms_norm},
    {"head_dot", "head_dot", kFirstTwo, nullptr, bind_head_dot, run_head_dot},
    {"segment_softmax", "segment_softmax", 0, nullptr, bind_to, run_segment_softmax},
    {"mix_rows", "mix_rows", 0, nullptr, bind_to, run_mix},
    {"mean_rows", "mean_rows", 0, needs_vector_input, bind_to, run_mean},
    {"select_rows", "copy_rows", 0, needs_f32, nullptr, run_copy},
    {"slice", "copy_rows", kFirst, needs_vector_input, bind_slice, run_copy},
    {"concat", "copy_rows", kAll, needs_vectors, nullptr, run_concat},
    {"position", "position", 0, nullptr, nullptr, run_position},
    {"sinusoid", "sinusoid", 0, nullptr, nullptr, run_sinusoid},
    {"k_best", "k_best", kFirst, nullptr, nullptr, run_k_best},
    {"state", "state", 0, needs_f32, nullptr, run_state},
    {"next", "next", kAll, needs_f32, nullptr, run_next},
    {"collect", "scatter_rows", kFirst, needs_f32, bind_collect, run_collect},
    {"history", "append_rows", kFirst, needs_f32, bind_history, run_history},
    {"*", "reference", 0, refuse_reference, nullptr, run_reference},
};

}  // namespace

std::span<const KernelRow> kernel_rows() { return kRows; }

bool is_stored(const Graph& graph, const Node& node) {
  return node.has(Trait::external) ||
         (node.operands.empty() && graph.value(node.results[0]).type.domain == graph.none());
}

KernelChoice choose_kernel(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  KernelChoice choice;
  for (const KernelRow& row : kRows) {
    if (row.op != node.op->name && row.op != "*") continue;
    std::string reason = row.refuse ? row.refuse(graph, node) : "";
    if (reason.empty()) {
      choice.row = &row;
      return choice;
    }
    choice.rejections.push_back({row.name, std::move(reason)});
  }
  throw Error("{}: no kernel of the cpu back-end can run it", graph.describe(id));
}

}  // namespace fuselage::cpu
