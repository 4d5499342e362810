// Products with a weight matrix.

#include "fuselage/ops/arithmetic/matmul.h"

#include <fmt/format.h>

#include "fuselage/base/quantized.h"
#include "fuselage/ops/infer.h"
#include "ops/eigen_view.h"

namespace fuselage {
namespace {

struct WeightShape {
  std::int64_t in = 0, out = 0;
};

/// Rows and columns of the weight operand; a vocabulary value counts as a matrix.
WeightShape weight_shape(const InferContext& in) {
  if (!is_half(in.operand(1).dtype)) expect_real(in, 1);
  const Type& weight = in.operand(1);
  const Domain& domain = in.graph().domain(weight.domain);
  if (domain.binding != BindingTime::load)
    in.fail(fmt::format("its second operand must be known at load time, not {}", in.show(weight)));
  const Dims dims = in.graph().stored_shape(weight);
  if (dims.size() != 2)
    in.fail(fmt::format("its second operand must be a matrix, not {}", in.show(weight)));
  if (in.as<op::Matmul>().transposed) return {dims[1], dims[0]};
  if (is_quantized(weight.dtype))
    in.fail(fmt::format("{} has scales along the wrong dimension; quantize its transposed",
                        in.show(weight)));
  return {dims[0], dims[1]};
}

void expect_rows(const InferContext& in) {
  const DType x = in.operand(0).dtype;
  if (!is_half(x)) return expect_real(in, 0);
  if (in.operand(1).dtype != x)
    in.fail(fmt::format("rows of {} are multiplied with a matrix of {}, not of {}", to_string(x),
                        to_string(x), to_string(in.operand(1).dtype)));
}

std::vector<Type> infer_matmul(const InferContext& in) {
  expect_rows(in);
  const WeightShape weight = weight_shape(in);
  Type result = in.operand(0);
  if (result.dims.empty() || result.dims.back() != weight.in)
    in.fail(fmt::format("inner dimensions differ: {} by {}{}", in.show(in.operand(0)),
                        in.show(in.operand(1)),
                        in.as<op::Matmul>().transposed ? " transposed" : ""));
  result.dtype = DType::f32;
  result.dims.back() = weight.out;
  return {result};
}

Cost cost_matmul(const InferContext& in) {
  const WeightShape weight = weight_shape(in);
  const double rows = static_cast<double>(row_size(in.operand(0))) / static_cast<double>(weight.in);
  const auto k = static_cast<double>(weight.in);
  const auto n = static_cast<double>(weight.out);
  const auto bytes = [&](DType dtype) {
    return static_cast<double>(vector_bytes(dtype, weight.in));
  };
  return {.flop = 2 * rows * k * n,
          .bytes = rows * (bytes(in.operand(0).dtype) + 4 * n),
          .weight_bytes = bytes(in.operand(1).dtype) * n};
}

template <typename T>
void evaluate_matmul(EvalContext<T>& context) {
  const WeightShape weight = weight_shape(InferContext(context.graph, context.node));
  const Array<T>& x = *context.operands[0];
  Array<T>& out = context.results[0];
  const std::int64_t rows = x.rows * x.cols / weight.in;
  const ConstMatrixView<T> a(x.data.data(), rows, weight.in);
  MatrixView<T> c(out.data.data(), rows, weight.out);
  const T* w = context.operands[1]->data.data();
  const ConstMatrixView<T> plain(w, weight.in, weight.out);
  const ConstMatrixView<T> transposed(w, weight.out, weight.in);
  const bool is_transposed = context.node.template as<op::Matmul>().transposed;
  // Row by row: in a matrix product the rounding of a row would depend on the number of rows.
  for (std::int64_t r = 0; r < rows; ++r) {
    if (is_transposed)
      c.row(r).noalias() = a.row(r) * transposed.transpose();
    else
      c.row(r).noalias() = a.row(r) * plain;
  }
}

}  // namespace

std::span<const OpDef> matmul_ops() {
  static const OpDef ops[] = {
      define<op::Matmul>(
          {.summary = "x W, or x Wᵀ if transposed; W is known at load time. The product is f32, "
                      "also of quantized operands and of W, or both, in bf16 or f16.",
           .operands = {{"x"}, {"w"}},
           .traits = Trait::row_wise | Trait::linear,
           .infer = infer_matmul,
           .cost = cost_matmul,
           .evaluate_f32 = evaluate_matmul<float>,
           .evaluate_f64 = evaluate_matmul<double>}),
  };
  return ops;
}

}  // namespace fuselage
