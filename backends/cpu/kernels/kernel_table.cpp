#include "backends/cpu/kernels/kernel_table.h"

#include "backends/cpu/kernels/attention_kernels.h"
#include "backends/cpu/kernels/copy_kernels.h"
#include "backends/cpu/kernels/elementwise_kernels.h"
#include "backends/cpu/kernels/ensemble_kernel.h"
#include "backends/cpu/kernels/output_kernel.h"
#include "backends/cpu/kernels/product_kernels.h"
#include "backends/cpu/kernels/quantize_kernels.h"
#include "backends/cpu/kernels/reference_kernel.h"
#include "backends/cpu/kernels/row_kernels.h"
#include "backends/cpu/kernels/shortlist_kernel.h"
#include "backends/cpu/weights/weight_region.h"
#include "backends/plan/refusals.h"

namespace fuselage::cpu {
namespace {

constexpr std::uint32_t kFirst = 1;
constexpr std::uint32_t kSecond = 2;
constexpr std::uint32_t kFirstTwo = 3;
constexpr std::uint32_t kFirstThree = 7;
constexpr std::uint32_t kFourth = 8;
constexpr std::uint32_t kAll = KernelInfo::kAllViews;
constexpr bool kQuantizes = true;

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
    {{"pointwise", "elements", kAll, refuse_pointwise, 0, kQuantizes},
     bind_pointwise,
     run_pointwise},
    {{"linear", "packed_gemm_elements", ~kSecond, refuse_linear, 0, kQuantizes},
     bind_linear,
     run_linear},
    {{"linear", "packing_gemm_elements", ~kSecond, refuse_packing_linear, 0, kQuantizes},
     bind_packing_linear,
     run_packing_linear},
    {{"softmax", "softmax", kFirst, needs_vector_input}, nullptr, run_softmax},
    {{"log_softmax", "log_softmax", kFirst, needs_vector_input}, nullptr, run_log_softmax},
    {{"layer_norm", "layer_norm", kFirst}, bind_epsilon, run_layer_norm},
    {{"add_layer_norm", "add_layer_norm", kFirstTwo, nullptr, 0, kQuantizes},
     bind_add_layer_norm,
     run_add_layer_norm},
    {{"rms_norm", "rms_norm", kFirst}, bind_epsilon, run_rms_norm},
    {{"head_dot", "head_dot", kFirstTwo}, bind_head_dot, run_head_dot},
    {{"segment_softmax", "segment_softmax", 0}, bind_to, run_segment_softmax},
    {{"additive_attention", "additive_attention", 0, refuse_additive_attention, kFirstTwo | kFourth,
      kQuantizes},
     bind_left,
     run_additive_attention},
    {{"dot_attention", "dot_attention", 0, refuse_dot_attention, kFirstThree, kQuantizes},
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
    {{"*", "reference", 0, refuse_reference, 0, kQuantizes}, bind_quantized_results, run_reference},
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
