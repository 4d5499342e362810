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
#include "fuselage/backends/plan/refusals.h"
#include "fuselage/base/quantized.h"
#include "fuselage/ops/arithmetic/batch_matmul.h"
#include "fuselage/ops/arithmetic/matmul.h"
#include "fuselage/ops/arithmetic/normalization.h"
#include "fuselage/ops/arithmetic/reduction.h"
#include "fuselage/ops/arithmetic/softmax.h"
#include "fuselage/ops/fused/attention.h"
#include "fuselage/ops/fused/chains.h"
#include "fuselage/ops/fused/frequent_rows.h"
#include "fuselage/ops/fused/output.h"
#include "fuselage/ops/fused/recurrent.h"
#include "fuselage/ops/precision/quantize.h"
#include "fuselage/ops/registry.h"
#include "fuselage/ops/search/k_best.h"
#include "fuselage/ops/search/repetition.h"
#include "fuselage/ops/search/sampling.h"
#include "fuselage/ops/search/shortlist.h"
#include "fuselage/ops/structure/leaf.h"
#include "fuselage/ops/structure/loop.h"
#include "fuselage/ops/structure/positions.h"
#include "fuselage/ops/structure/rows.h"
#include "fuselage/ops/structure/shape.h"

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

/// Rows of 16-bit floats are read where they are, in units of 16 bytes.
std::string refuse_rows(const Graph& graph, const Node& node) {
  const Type& x = graph.value(node.operands[0]).type;
  if (!is_half(x.dtype)) return refuse_types(graph, node);
  return x.dims.back() % 16 == 0 ? "" : "its rows of 16-bit floats are no multiple of 16 elements";
}

std::string refuse_product(const Graph& graph, const Node& node) {
  if (std::string reason = refuse_rows(graph, node); !reason.empty()) return reason;
  return refuse_matrix(graph, node.operands[1]);
}

std::string refuse_gemm(const Graph& graph, const Node& node) {
  if (refuse_row_dot(graph, node).empty()) return refuse_one_column(graph, node);
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
  if (std::string reason = refuse_lookup_product(graph, node); !reason.empty()) return reason;
  return refuse_matrix(graph, node.operands[1]);
}

// --- Output layers ---

std::string refuse_many(const Graph&, const Node& node) {
  const auto k = node.as<op::BestCount>().k;
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

std::string refuse_sampled_product(const Graph& graph, const Node& node) {
  if (std::string reason = refuse_shortlist(graph, node); !reason.empty()) return reason;
  return refuse_matrix(graph, node.operands[1]);
}

std::string refuse_shortlist_output(const Graph& graph, const Node& node) {
  if (std::string reason = refuse_sampled_product(graph, node); !reason.empty()) return reason;
  return refuse_many(graph, node);
}

std::string refuse_output_layers(const Graph& graph, const Node& node) {
  if (std::string reason = refuse_ensemble(graph, node, kMaxMembers); !reason.empty())
    return reason;
  for (const MemberOperands& member : ensemble_members(node.as<op::EnsembleKBest>()))
    if (std::string reason = refuse_matrix(graph, node.operands[member.w]); !reason.empty())
      return reason;
  return refuse_many(graph, node);
}

// --- Attention ---

/// Whether the rows of an operand, keys or values, are those of all words of each left row: then
/// its newest is the row that this step adds, of floats.
bool appends_to_own_words(const Graph& graph, const Node& node, std::size_t operand) {
  if (operand != 1 && operand != 2) return false;
  const ValueId added = graph.producer(node.operands[operand]).operands[0];
  if (graph.value(added).type.dtype != DType::f32) return false;
  const auto [left, right] = node.as<op::PairMembers>();
  const Domain& words = graph.domain(graph.value(node.operands[operand]).type.domain);
  return words.kind == DomainKind::prefix && left.size() == 1 && right.size() == 1 &&
         graph.map(left.front()).to == words.of;
}

// --- Copies ---

std::string refuse_view(const Graph& graph, const Node& node) {
  if (std::string reason = needs_f32(graph, node); !reason.empty()) return reason;
  return strided_view(graph, node).sizes.size() > kMaxStridedDims
             ? fmt::format("it copies views of {} dimensions at most", kMaxStridedDims)
             : "";
}

std::string needs_floats(const Graph& graph, const Node& node) {
  return is_half(graph.value(node.operands[0]).type.dtype) ? "" : needs_f32(graph, node);
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

using enum Reads;

// Best first.
constexpr KernelInfo kRows[] = {
    {.op = op::Matmul::kName, .name = "gemm", .reads = {view}, .refuse = refuse_gemm},
    {.op = op::Matmul::kName, .name = "row_dot", .reads = {view}, .refuse = refuse_row_dot},
    {.op = op::BatchMatmul::kName, .name = "batch_matmul", .reads = {view, view}},
    {.op = op::Linear::kName,
     .name = "gemm_elements",
     .reads = OperandReads{view, whole}.then_all(view),
     .refuse = refuse_gemm_elements,
     .rounds = true},
    {.op = op::LookupMatmul::kName,
     .name = "lookup_gemm",
     .reads = {slice},
     .refuse = refuse_lookup_gemm},
    {.op = op::LeadingRows::kName, .name = "leading_rows"},
    {.op = op::Quantize::kName,
     .name = "quantize_rows",
     .reads = {view},
     .refuse = refuse_quantize},
    {.op = op::Dequantize::kName, .name = "dequantize_rows", .reads = {view}},
    {.op = op::Cast::kName, .name = "cast"},
    {.op = op::Pointwise::kName,
     .name = "elements",
     .reads = all_operands(view),
     .refuse = refuse_expression,
     .rounds = true},
    {.op = op::Softmax::kName, .name = "softmax", .reads = {view}, .refuse = needs_vector_input},
    {.op = op::LogSoftmax::kName,
     .name = "log_softmax",
     .reads = {view},
     .refuse = needs_vector_input},
    {.op = op::LogSumExp::kName,
     .name = "log_sum_exp",
     .reads = {view},
     .refuse = needs_vector_input},
    {.op = op::ReduceSum::kName, .name = "reduce_sum", .reads = {view}},
    {.op = op::ReduceMax::kName, .name = "reduce_max", .reads = {view}},
    {.op = op::ReduceMean::kName, .name = "reduce_mean", .reads = {view}},
    {.op = op::LayerNorm::kName, .name = "layer_norm", .reads = {view}},
    {.op = op::AddLayerNorm::kName,
     .name = "add_layer_norm",
     .reads = {view, view},
     .rounds = true},
    {.op = op::AddRmsNorm::kName, .name = "add_rms_norm", .reads = {view, view}, .rounds = true},
    {.op = op::RmsNorm::kName, .name = "rms_norm", .reads = {view}},
    {.op = op::HeadDot::kName, .name = "head_dot", .reads = {view, view}},
    {.op = op::SegmentSoftmax::kName, .name = "segment_softmax"},
    {.op = op::SegmentLogSoftmax::kName, .name = "segment_log_softmax"},
    {.op = op::AdditiveAttention::kName,
     .name = "additive_attention",
     .reads = {slice, slice, whole, slice},
     .refuse = refuse_additive_attention,
     .rounds = true},
    {.op = op::DotAttention::kName,
     .name = "dot_attention",
     .reads = {slice, slice, slice, view},
     .refuse = refuse_dot_attention,
     .rounds = true,
     .appends = appends_to_own_words},
    {.op = op::DotAttention::kName,
     .name = "rounded_dot_attention",
     .reads = {slice, slice, slice, view},
     .refuse = refuse_rounded_attention,
     .rounds = true,
     .appends = appends_to_own_words},
    {.op = op::MixRows::kName, .name = "mix_rows", .reads = {whole, slice}},
    {.op = op::MeanRows::kName, .name = "mean_rows"},
    {.op = op::SumRows::kName, .name = "sum_rows"},
    {.op = op::MaxRows::kName, .name = "max_rows"},
    {.op = op::SegmentLogSumExp::kName, .name = "segment_log_sum_exp"},
    {.op = op::SelectRows::kName, .name = "copy_rows", .reads = {slice}, .refuse = needs_words},
    {.op = op::SelectElements::kName, .name = "select_elements", .reads = {slice}},
    {.op = op::Slice::kName, .name = "copy_rows", .reads = {view}, .refuse = needs_vector_input},
    {.op = op::Slice::kName, .name = "strided_copy", .reads = {view}, .refuse = refuse_view},
    {.op = op::SliceLeading::kName, .name = "strided_copy", .reads = {view}, .refuse = refuse_view},
    {.op = op::Reshape::kName, .name = "copy_rows", .reads = {view}},
    {.op = op::Expand::kName, .name = "strided_copy", .reads = {view}, .refuse = refuse_view},
    {.op = op::Permute::kName, .name = "strided_copy", .reads = {view}, .refuse = refuse_view},
    {.op = op::Transpose::kName, .name = "strided_copy", .reads = {view}, .refuse = refuse_view},
    {.op = op::Concat::kName,
     .name = "concat",
     .reads = all_operands(view),
     .refuse = needs_vectors},
    {.op = op::Concat::kName, .name = "concat_vectors", .reads = all_operands(view)},
    {.op = op::Input::kName, .name = "input"},
    {.op = op::Position::kName, .name = "position"},
    {.op = op::Sinusoid::kName, .name = "sinusoid"},
    {.op = op::AddSinusoid::kName, .name = "add_sinusoid", .reads = {view}, .rounds = true},
    {.op = op::Rotary::kName, .name = "rotary", .reads = {view, view, view}},
    {.op = op::RowNumber::kName, .name = "row_number"},
    {.op = op::PenalizeRepeats::kName, .name = "penalize_repeats"},
    {.op = op::SegmentPenalizeRepeats::kName,
     .name = "segment_penalize_repeats",
     .refuse = refuse_other_lists},
    {.op = op::KBest::kName, .name = "k_best", .reads = {view}, .refuse = refuse_many},
    {.op = op::SegmentKBest::kName, .name = "segment_k_best", .refuse = refuse_many},
    {.op = op::Uniform::kName, .name = "uniform", .reads = {view, view}},
    {.op = op::Sample::kName, .name = "sample", .reads = {view, view, view}},
    {.op = op::SegmentSample::kName, .name = "segment_sample", .reads = {whole, view}},
    {.op = op::LinearKBest::kName,
     .name = "fused_output",
     .reads = {view},
     .refuse = refuse_fused_output},
    {.op = op::LinearKBest::kName,
     .name = "output_layer",
     .reads = {view},
     .refuse = refuse_logits},
    {.op = op::ShortlistKBest::kName,
     .name = "shortlist_output_layer",
     .reads = {view},
     .refuse = refuse_shortlist_output},
    {.op = op::SampledMatmul::kName,
     .name = "sampled_product",
     .reads = {slice},
     .refuse = refuse_sampled_product},
    {.op = op::EnsembleKBest::kName,
     .name = "output_layers",
     .reads = all_operands(view),
     .refuse = refuse_output_layers},
    {.op = op::State::kName, .name = "state", .refuse = needs_f32},
    {.op = op::Next::kName, .name = "next", .reads = all_operands(view), .refuse = needs_f32},
    {.op = op::Collect::kName, .name = "scatter_rows", .reads = {view}, .refuse = needs_f32},
    {.op = op::RecurrentLayer::kName,
     .name = "recurrent_layer",
     .reads = {slice},
     .refuse = refuse_recurrent_layer},
    {.op = op::History::kName, .name = "append_rows", .reads = {view}, .refuse = needs_floats},
};

/// A row for each elementwise op: alone, it is an expression of one step.
std::vector<KernelInfo> element_rows() {
  std::vector<KernelInfo> rows;
  for (const OpDef* op : all_ops().all())
    if (op->has(Trait::elementwise) && !declares<op::Expression>(*op))
      rows.push_back({.op = op->name,
                      .name = "elements",
                      .reads = all_operands(view),
                      .refuse = refuse_expression});
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
