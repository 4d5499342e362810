#include "backends/cuda/device/gemm/linear_kernel.h"

#include <optional>
#include <string>
#include <vector>

#include "backends/cuda/device/elementwise/elementwise_kernels.h"
#include "backends/cuda/device/gemm/gemm_operands.h"
#include "backends/cuda/device/kernel/bump_allocator.h"
#include "backends/cuda/device/kernel/operands.h"
#include "base/error.h"
#include "ops/elementwise_expression.h"

namespace fuselage::cuda {
namespace {

using Argument = ElementwiseExpression::Argument;

/// What cuBLASLt can do on the way.
struct Epilogue {
  bool bias = false;  ///< add x1
  bool relu = false;
};

bool adds_x1_to_x0(const ElementwiseExpression::Step& step) {
  constexpr Argument kX0{.kind = Argument::Kind::operand, .index = 0};
  constexpr Argument kX1{.kind = Argument::Kind::operand, .index = 1};
  return step.op->name == "add" &&
         (step.arguments == std::vector{kX0, kX1} || step.arguments == std::vector{kX1, kX0});
}

/// Whether it is relu of the product, or of the step before.
bool is_relu(const ElementwiseExpression::Step& step, bool of_product) {
  const Argument argument{.kind = of_product ? Argument::Kind::operand : Argument::Kind::step,
                          .index = 0};
  return step.op->name == "relu" && step.arguments == std::vector{argument};
}

/// The epilogue that an expression is, if it is one.
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

/// The product and the expression in one.
class LinearWithEpilogue : public Kernel {
 public:
  LinearWithEpilogue(BoundProduct product, const Epilogue& epilogue)
      : product_(std::move(product)), epilogue_(epilogue) {}

  void launch(const PlannedInstruction& in, const Run& run) const override {
    RowProduct::Call call = product_.call(in, run);
    if (epilogue_.bias) call.bias = data_at<const float>(in.operands[2], run);
    call.relu = epilogue_.relu;
    product_.rows().launch(call);
  }

  std::size_t workspace_bytes(const PlannedInstruction& in,
                              const RowBounds& bounds) const override {
    return product_.workspace_bytes(in, bounds);
  }

 private:
  BoundProduct product_;
  Epilogue epilogue_;
};

/// The product, then the expression on it: in place where the rows of the result begin with the
/// first and are as wide, else from the workspace.
class LinearThenElements : public Kernel {
 public:
  LinearThenElements(BoundProduct product, const ElementwiseExpression& expression,
                     const PlannedInstruction& in)
      : product_(std::move(product)),
        in_place_(!product_.appends() && product_.rows().n() == in.results[0].cols),
        elements_(expression, scalars(in, product_.rows().n())) {}

  void launch(const PlannedInstruction& in, const Run& run) const override {
    RowProduct::Call call = product_.call(in, run);
    const std::int64_t n = product_.rows().n();
    if (!in_place_) {
      Pieces pieces(run.workspace);
      call.out = {pieces.take<float>(call.rows.most * n), n};
      check(pieces.fit(), "gemm_elements: its workspace is too small");
      call.workspace = pieces.rest();
    }
    product_.rows().launch(call);
    std::vector<RowsIn> operands{{.data = call.out.data,
                                  .stride = call.out.stride,
                                  .columns = static_cast<std::int32_t>(n)}};
    for (std::size_t i = 2; i < in.operands.size(); ++i) operands.push_back(rows_in(in, run, i));
    std::vector<RowsOut> results;
    for (std::size_t i = 0; i < in.results.size(); ++i) results.push_back(rows_out(in, run, i));
    elements_.launch(run.stream, call.rows, cols_of(in), operands, results);
  }

  std::size_t workspace_bytes(const PlannedInstruction& in,
                              const RowBounds& bounds) const override {
    Pieces pieces;
    if (!in_place_) pieces.take<float>(product_.most_rows(in, bounds) * product_.rows().n());
    return pieces.bytes() + product_.workspace_bytes(in, bounds, true);
  }

 private:
  /// Operand 0 of the expression is the product.
  static std::vector<bool> scalars(const PlannedInstruction& in, std::int64_t n) {
    std::vector<bool> scalar{n != in.results[0].cols};
    for (std::size_t i = 2; i < in.operands.size(); ++i)
      scalar.push_back(in.operands[i].cols != in.results[0].cols);
    return scalar;
  }

  BoundProduct product_;
  bool in_place_;
  ElementKernel elements_;
};

}  // namespace

std::unique_ptr<Kernel> make_linear(const PlannedInstruction& in, const Binding& binding) {
  BoundProduct product(in, binding);
  const ElementwiseExpression expression =
      parse_expression(binding.node.attr<std::string>("expression"));
  const std::optional<Epilogue> epilogue = epilogue_of(expression);
  const auto is_vector = [&](const BufferView& view) {
    return view.stride == 0 && view.index == kNone && view.cols == product.rows().n();
  };
  if (epilogue && product.rows().fuses() && product.rows().n() == in.results[0].cols &&
      (!epilogue->bias || is_vector(in.operands[2])))
    return std::make_unique<LinearWithEpilogue>(std::move(product), *epilogue);
  return std::make_unique<LinearThenElements>(std::move(product), expression, in);
}

}  // namespace fuselage::cuda
