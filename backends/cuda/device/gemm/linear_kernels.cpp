#include <optional>
#include <string>
#include <vector>

#include "backends/cuda/device/elementwise/elementwise_kernels.h"
#include "backends/cuda/device/gemm/gemm_operands.h"
#include "backends/cuda/device/gemm/round_rows.h"
#include "backends/cuda/device/kernel/bump_allocator.h"
#include "backends/cuda/device/kernel/kernel_registry.h"
#include "backends/cuda/device/kernel/operands.h"
#include "backends/cuda/device/kernel/rounded_results.h"
#include "fuselage/base/error.h"
#include "fuselage/ops/arithmetic/pointwise.h"
#include "fuselage/ops/fused/chains.h"
#include "fuselage/ops/registry.h"
#include "ops/fused/elementwise_expression.h"

namespace fuselage::cuda {
namespace {

using Argument = ElementwiseExpression::Argument;

/// The epilogue of a GEMM by cuBLASLt.
struct Epilogue {
  bool bias = false;  ///< add x1
  bool relu = false;
};

bool adds_x1_to_x0(const ElementwiseExpression::Step& step) {
  constexpr Argument kX0{.kind = Argument::Kind::operand, .index = 0};
  constexpr Argument kX1{.kind = Argument::Kind::operand, .index = 1};
  return step.op == &op_def<op::Add>() &&
         (step.arguments == std::vector{kX0, kX1} || step.arguments == std::vector{kX1, kX0});
}

/// Whether the step is relu of the product or, without `of_product`, of the first step.
bool is_relu(const ElementwiseExpression::Step& step, bool of_product) {
  const Argument argument{.kind = of_product ? Argument::Kind::operand : Argument::Kind::step,
                          .index = 0};
  return step.op == &op_def<op::Relu>() && step.arguments == std::vector{argument};
}

/// The epilogue that computes the expression; nullopt if none does.
std::optional<Epilogue> epilogue_of(const ElementwiseExpression& expression) {
  if (expression.results.size() != 1 || expression.steps.empty()) return std::nullopt;
  if (expression.results[0].index + 1 != expression.steps.size()) return std::nullopt;
  if (expression.steps.size() == 1 && is_relu(expression.steps[0], true))
    return Epilogue{.relu = true};
  if (!adds_x1_to_x0(expression.steps[0])) return std::nullopt;
  if (expression.steps.size() == 1) return Epilogue{.bias = true};
  if (expression.steps.size() == 2 && is_relu(expression.steps[1], false))
    return Epilogue{.bias = true, .relu = true};
  return std::nullopt;
}

/// A GEMM with the expression as its epilogue, and a kernel to round the result if needed.
class LinearWithEpilogue : public Kernel {
 public:
  LinearWithEpilogue(GemmOperands operands, const Epilogue& epilogue, RoundedResults rounded)
      : operands_(std::move(operands)), epilogue_(epilogue), rounded_(std::move(rounded)) {}

  void launch(const PlannedInstruction& in, const Run& run) const override {
    Gemm::Call call = operands_.call(in, run);
    if (epilogue_.bias) call.bias = data_at<const float>(in.operands[2], run);
    call.relu = epilogue_.relu;
    operands_.gemm().launch(call);
    if (rounded_.rounding_of(0) == kNone) return;
    const RowsOut wide = rows_out(in, run);
    const VectorsIn vectors{.x = {.data = wide.data,
                                  .stride = wide.stride,
                                  .first = wide.first,
                                  .columns = cols_of(in)},
                            .rows = rows_of(in, run),
                            .elements = cols_of(in)};
    round_rows(run.stream, vectors, rounded_.is_bf16() ? DType::bf16 : DType::f16, cols_of(in),
               rounded_.rounded_out(in, run, 0));
  }

  std::size_t workspace_bytes(const PlannedInstruction& in,
                              const RowBounds& bounds) const override {
    return operands_.workspace_bytes(in, bounds);
  }

 private:
  GemmOperands operands_;
  Epilogue epilogue_;
  RoundedResults rounded_;
};

/// A GEMM, then a kernel for the expression. The GEMM writes to the result's memory if rows have
/// the same width and begin with row 0, else to the workspace.
class LinearThenElements : public Kernel {
 public:
  LinearThenElements(GemmOperands operands, const ElementwiseExpression& expression,
                     RoundedResults rounded, const PlannedInstruction& in)
      : operands_(std::move(operands)),
        in_place_(!operands_.stages_out() && operands_.gemm().n() == in.results[0].cols),
        rounded_(std::move(rounded)),
        elements_(expression, scalars(in, operands_.gemm().n()), forms_of(rounded_)) {}

  void launch(const PlannedInstruction& in, const Run& run) const override {
    Gemm::Call call = operands_.call(in, run);
    const std::int64_t n = operands_.gemm().n();
    if (!in_place_) {
      BumpAllocator allocator(run.workspace);
      call.out = {allocator.allocate<float>(call.rows.max_live * n), n};
      check(allocator.fits(), "gemm_elements: the workspace is too small");
      call.workspace = allocator.remaining();
    }
    operands_.gemm().launch(call);
    std::vector<RowsIn> arguments{{.data = call.out.data,
                                   .stride = call.out.stride,
                                   .columns = static_cast<std::int32_t>(n)}};
    for (std::size_t i = 2; i < in.operands.size(); ++i) arguments.push_back(rows_in(in, run, i));
    std::vector<FloatsOut> results;
    for (std::size_t i = 0; i < rounded_.own(); ++i) results.push_back(rounded_.out(in, run, i));
    elements_.launch(run.stream, call.rows, cols_of(in), arguments, results);
  }

  std::size_t workspace_bytes(const PlannedInstruction& in,
                              const RowBounds& bounds) const override {
    BumpAllocator allocator;
    if (!in_place_)
      allocator.allocate<float>(operands_.max_rows(in, bounds) * operands_.gemm().n());
    return allocator.used_bytes() +
           operands_.buffer_workspace_bytes(operands_.max_rows(in, bounds));
  }

 private:
  /// Operand 0 of the expression is the product.
  static std::vector<bool> scalars(const PlannedInstruction& in, std::int64_t n) {
    std::vector<bool> scalar{n != in.results[0].cols};
    for (std::size_t i = 2; i < in.operands.size(); ++i)
      scalar.push_back(in.operands[i].cols != in.results[0].cols);
    return scalar;
  }

  GemmOperands operands_;
  bool in_place_;
  RoundedResults rounded_;
  CompiledExpression elements_;
};

/// linear: fuses an expression that only adds a vector or applies ReLU into the GEMM.
std::unique_ptr<Kernel> make_linear(const PlannedInstruction& in, const Binding& binding) {
  GemmOperands operands(in, binding);
  const ElementwiseExpression expression =
      parse_expression(binding.node.as<op::Expression>().expression);
  const std::optional<Epilogue> epilogue = epilogue_of(expression);
  const RoundedResults rounded(in, binding);
  const auto is_vector = [&](const BufferView& view) {
    return view.stride == 0 && view.index == kNone && view.cols == operands.gemm().n();
  };
  if (epilogue && operands.gemm().fuses_bias_relu() && operands.gemm().n() == in.results[0].cols &&
      (!epilogue->bias || is_vector(in.operands[2])))
    return std::make_unique<LinearWithEpilogue>(std::move(operands), *epilogue, rounded);
  return std::make_unique<LinearThenElements>(std::move(operands), expression, rounded, in);
}

const RegisterKernels kLinearKernels({{"gemm_elements", make_linear}});

}  // namespace
}  // namespace fuselage::cuda
