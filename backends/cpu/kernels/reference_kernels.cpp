// The reference evaluation of an op, for nodes that no other kernel can run.

#include <algorithm>
#include <vector>

#include "backends/cpu/kernels/kernel_families.h"
#include "backends/cpu/kernels/quantized_results.h"
#include "backends/cpu/simd/rows/copy.h"
#include "fuselage/backends/cpu/runtime/make_kernel.h"
#include "fuselage/backends/cpu/runtime/operands.h"
#include "fuselage/base/error.h"
#include "fuselage/base/quantized.h"
#include "fuselage/ops/evaluate.h"
#include "fuselage/ops/precision/quantize.h"
#include "ops/call_op.h"

namespace fuselage::cpu {
namespace {

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

Array<float> to_array(const PlannedInstruction& in, const Run& run, const Type& type,
                      std::size_t operand) {
  const BufferView& view = in.operands[operand];
  const bool same_rows = type.domain == in.domain;
  const std::int64_t rows = same_rows ? row_count(in, run) : run.rows.rows(type.domain);
  Array<float> array(rows, row_size(type));
  if (type.dtype == DType::i32) {
    const auto* from =
        data_at<const std::int32_t>(view, run, same_rows ? first_row(run, in.domain) : 0);
    std::copy_n(from, array.data.size(), array.data.begin());
    return array;
  }
  if (is_half(type.dtype)) {
    const auto* from = reinterpret_cast<const std::uint16_t*>(
        data_at<const float>(view, run, same_rows ? first_row(run, in.domain) : 0));
    std::transform(from, from + array.data.size(), array.data.begin(),
                   type.dtype == DType::bf16 ? bfloat16_to_float : half_to_float);
    return array;
  }
  const RowsIn from = same_rows ? rows_in(in, run, operand) : all_rows(in, run, operand);
  if (is_quantized(type.dtype)) return dequantized(from, rows, type);
  copy_rows(from, static_cast<std::size_t>(rows), static_cast<std::size_t>(view.cols),
            {array.data.data(), static_cast<std::size_t>(view.cols)});
  return array;
}

/// Allocates, unlike other kernels.
class Reference final : public Kernel {
 public:
  Reference(const PlannedInstruction& in, const Binding& binding)
      : graph_(binding.graph), quantized_(in, binding) {}

  void run(const PlannedInstruction& in, const Run& run) const override {
    const Node& node = graph_.node(in.node);
    std::vector<Array<float>> operands;
    for (std::size_t i = 0; i < in.operands.size(); ++i)
      operands.push_back(to_array(in, run, graph_.value(node.operands[i]).type, i));
    EvalContext<float> context{.graph = graph_, .node = node, .rows = run.rows};
    for (const auto& operand : operands) context.operands.push_back(&operand);
    for (const BufferView& result : in.results)
      context.results.emplace_back(row_count(in, run), result.cols);
    evaluate_op(context);
    for (std::size_t i = 0; i < in.results.size() - quantized_.size(); ++i)
      store(context.results[i], in.results[i], run, graph_.value(node.results[i]).type);
    quantized_.quantize(in, run);
  }

 private:
  static void store(const Array<float>& array, const BufferView& result, const Run& run,
                    const Type& type) {
    const DomainId domain = domain_of(result, run);
    check(array.data.size() == static_cast<std::size_t>(row_count(run, domain) * result.cols),
          "reference evaluation: a result of another size");
    const std::int64_t row = first_row(run, domain);
    if (type.dtype == DType::i32)
      std::copy(array.data.begin(), array.data.end(), data_at<std::int32_t>(result, run, row));
    else
      std::copy(array.data.begin(), array.data.end(), data_at<float>(result, run, row));
  }

  const Graph& graph_;
  QuantizedResults quantized_;
};

std::string refuse_reference(const Graph& graph, const Node& node) {
  const std::size_t own = node.results.size() - quantized_results(node).size();
  for (std::size_t i = 0; i < own; ++i)
    if (const DType dtype = graph.value(node.results[i]).type.dtype;
        is_quantized(dtype) || is_half(dtype))
      return "its result is quantized or of 16 bits";
  return node.op->evaluate_f32 ? "" : "the op has no reference evaluation";
}

}  // namespace

std::span<const KernelEntry> reference_kernels() {
  static constexpr KernelEntry kKernels[] = {
      {{.op = "*",
        .name = "reference",
        .refuse = refuse_reference,
        .quantizes = true,
        .is_reference = true,
        .serves = [](const OpDef& op) { return op.evaluate_f32 != nullptr; }},
       make_kernel<Reference>},
  };
  return kKernels;
}

}  // namespace fuselage::cpu
