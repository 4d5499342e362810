// A new kernel needs
//
//   1. a row in the table below: op, name, views and the function that refuses nodes;
//   2. in a `*_kernels.cpp` file of backends/cuda/device: a class of Kernel, or a launch function,
//      and an entry with the same name in the file's RegisterKernels;
//   3. device code in a .cu file of the same folder, with its header, unless functions that are
//      there suffice.
//
// An elementwise op needs only a function in element_functions.cpp.

#include "backends/cuda/kernel_table.h"

#include <fmt/format.h>

#include <vector>

#include "backends/cuda/cudnn.h"
#include "backends/cuda/elementwise_source.h"
#include "backends/cuda/limits.h"
#include "backends/plan/refusals.h"
#include "base/quantized.h"
#include "ops/output.h"
#include "ops/registry.h"

namespace fuselage::cuda {
namespace {

// --- Products ---

/// Matrices are converted and uploaded when the executable is made, so they must be stored.
std::string refuse_matrix(const Graph& graph, ValueId w) {
  if (!is_stored(graph, graph.producer(w)) || graph.binding(w) != BindingTime::load)
    return "its matrix is not stored";
  const bool is_taken = graph.value(w).type.dtype != DType::qlog4;
  return is_taken ? "" : "it multiplies with no matrices of qlog4";
}

std::string refuse_product(const Graph& graph, const Node& node) {
  if (std::string reason = refuse_types(graph, node); !reason.empty()) return reason;
  return refuse_matrix(graph, node.operands[1]);
}

std::string refuse_gemm(const Graph& graph, const Node& node) {
  if (refuse_row_dot(graph, node).empty()) return "its matrix has one column";
  return refuse_product(graph, node);
}

std::string refuse_gemm_elements(const Graph& graph, const Node& node) {
  if (std::string reason = refuse_product(graph, node); !reason.empty()) return reason;
  if (std::string reason = refuse_elements(graph, node, 1); !reason.empty()) return reason;
  return refuse_elementwise_source(elementwise_expression(node));
}

std::string refuse_expression(const Graph& graph, const Node& node) {
  if (std::string reason = refuse_elements(graph, node, node.operands.size()); !reason.empty())
    return reason;
  return refuse_elementwise_source(elementwise_expression(node));
}

std::string refuse_lookup_gemm(const Graph& graph, const Node& node) {
  if (std::string reason = refuse_product(graph, node); !reason.empty()) return reason;
  for (std::size_t i = 1; i < node.operands.size(); ++i)
    if (!graph.producer(node.operands[i]).has(Trait::external))
      return "its matrix or its table is not stored";
  return "";
}

// --- Output layers ---

std::string refuse_many(const Graph&, const Node& node) {
  const auto k = node.attr<std::int64_t>("k");
  return k > kMaxBest ? fmt::format("it finds the best {} at most, not {}", kMaxBest, k) : "";
}

std::string refuse_logits(const Graph& graph, const Node& node) {
  if (std::string reason = refuse_output_layer(graph, node); !reason.empty()) return reason;
  if (std::string reason = refuse_matrix(graph, node.operands[1]); !reason.empty()) return reason;
  return refuse_many(graph, node);
}

std::string refuse_fused_output(const Graph& graph, const Node& node) {
  if (!is_half(graph.value(node.operands[1]).type.dtype))
    return "it multiplies with matrices of bf16 or f16";
  return refuse_logits(graph, node);
}

std::string refuse_shortlist_output(const Graph& graph, const Node& node) {
  if (std::string reason = refuse_shortlist(graph, node); !reason.empty()) return reason;
  if (std::string reason = refuse_matrix(graph, node.operands[1]); !reason.empty()) return reason;
  return refuse_many(graph, node);
}

std::string refuse_output_layers(const Graph& graph, const Node& node) {
  if (std::string reason = refuse_ensemble(graph, node, kMaxMembers); !reason.empty())
    return reason;
  for (const MemberOperands& member : ensemble_members(node))
    if (std::string reason = refuse_matrix(graph, node.operands[member.w]); !reason.empty())
      return reason;
  return refuse_many(graph, node);
}

// --- Recurrent layers ---

/// A layer's parameters are converted to cuDNN's layout when the executable is made.
std::string refuse_recurrent_layer(const Graph& graph, const Node& node) {
  if (!has_recurrent_layers()) return "it is cuDNN's, which does not load";
  for (std::size_t i = 1; i < node.operands.size(); ++i)
    if (const ValueId parameter = node.operands[i]; !is_stored(graph, graph.producer(parameter)) ||
                                                    graph.binding(parameter) != BindingTime::load)
      return "its parameters are not stored";
  return "";
}

constexpr std::uint32_t kFirst = 1;
constexpr std::uint32_t kSecond = 2;
constexpr std::uint32_t kFirstTwo = 3;
constexpr std::uint32_t kFirstThree = 7;
constexpr std::uint32_t kFourth = 8;
constexpr std::uint32_t kAll = KernelInfo::kAllViews;

// Best first.
constexpr KernelInfo kRows[] = {
    {"matmul", "gemm", kFirst, refuse_gemm},
    {"matmul", "row_dot", kFirst, refuse_row_dot},
    {"linear", "gemm_elements", ~kSecond, refuse_gemm_elements},
    {"lookup_matmul", "lookup_gemm", 0, refuse_lookup_gemm, kFirst},
    {"leading_rows", "leading_rows"},
    {"quantize", "quantize_rows", kFirst, refuse_quantize},
    {"dequantize", "dequantize_rows", kFirst},
    {"cast", "cast"},
    {"pointwise", "elements", kAll, refuse_expression},
    {"softmax", "softmax", kFirst, needs_vector_input},
    {"log_softmax", "log_softmax", kFirst, needs_vector_input},
    {"log_sum_exp", "log_sum_exp", kFirst, needs_vector_input},
    {"layer_norm", "layer_norm", kFirst},
    {"add_layer_norm", "add_layer_norm", kFirstTwo},
    {"rms_norm", "rms_norm", kFirst},
    {"head_dot", "head_dot", kFirstTwo},
    {"segment_softmax", "segment_softmax"},
    {"segment_log_softmax", "segment_log_softmax"},
    {"additive_attention", "additive_attention", 0, refuse_additive_attention, kFirstTwo | kFourth},
    {"dot_attention", "dot_attention", 0, nullptr, kFirstThree},
    {"mix_rows", "mix_rows", 0, nullptr, kSecond},
    {"mean_rows", "mean_rows", 0, needs_vector_input},
    {"select_rows", "copy_rows", 0, needs_real, kFirst},
    {"select_elements", "select_elements", 0, nullptr, kFirst},
    {"slice", "copy_rows", kFirst, needs_vector_input},
    {"concat", "concat", kAll, needs_vectors},
    {"position", "position"},
    {"sinusoid", "sinusoid"},
    {"k_best", "k_best", kFirst, refuse_many},
    {"segment_k_best", "segment_k_best", 0, refuse_many},
    {"linear_k_best", "fused_output", kFirst, refuse_fused_output},
    {"linear_k_best", "output_layer", kFirst, refuse_logits},
    {"shortlist_k_best", "shortlist_output_layer", kFirst, refuse_shortlist_output},
    {"ensemble_k_best", "output_layers", kAll, refuse_output_layers},
    {"state", "state", 0, needs_f32},
    {"next", "next", kAll, needs_f32},
    {"collect", "scatter_rows", kFirst, needs_f32},
    {"recurrent_layer", "recurrent_layer", 0, refuse_recurrent_layer, kFirst},
    {"history", "append_rows", kFirst, needs_f32},
};

/// A row for each elementwise op: alone, it is an expression of one step.
std::vector<KernelInfo> element_rows() {
  std::vector<KernelInfo> rows;
  for (const OpDef* op : all_ops().all())
    if (op->has(Trait::elementwise) && !op->attribute_index("expression"))
      rows.push_back({op->name, "elements", kAll, refuse_expression});
  return rows;
}

}  // namespace

const KernelSet& cuda_kernels() {
  static const std::vector<KernelInfo> of_elements = element_rows();
  static const KernelSet kernels = [] {
    KernelSet all;
    for (const KernelInfo& row : kRows) all.push_back(&row);
    for (const KernelInfo& row : of_elements) all.push_back(&row);
    return all;
  }();
  return kernels;
}

}  // namespace fuselage::cuda
