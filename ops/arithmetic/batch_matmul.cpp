// Products of the matrices in the rows of two values.

#include "fuselage/ops/arithmetic/batch_matmul.h"

#include <fmt/format.h>

#include <algorithm>

#include "fuselage/ops/evaluate.h"
#include "fuselage/ops/infer.h"

namespace fuselage {
namespace {

BatchMatmulShape shape_of(const Type& a, const Type& b, bool transposed) {
  const std::size_t last = a.dims.size() - 1;
  return {.count = row_size(a) / (a.dims[last - 1] * a.dims[last]),
          .m = a.dims[last - 1],
          .k = a.dims[last],
          .n = b.dims[transposed ? last - 1 : last],
          .transposed = transposed};
}

std::vector<Type> infer_batch_matmul(const InferContext& in) {
  for (const std::size_t i : {0, 1}) {
    expect_f32(in, i);
    if (in.operand(i).dims.size() < 2)
      in.fail(fmt::format("operand {} must be a matrix a row, not {}; reshape it", i,
                          in.show(in.operand(i))));
  }
  const DomainId domain = common_domain(in);
  const Type &a = in.operand(0), &b = in.operand(1);
  if (a.dims.size() != b.dims.size() ||
      !std::equal(a.dims.begin(), a.dims.end() - 2, b.dims.begin()))
    in.fail(fmt::format("leading dimensions differ: {} by {}", in.show(a), in.show(b)));
  const bool transposed = in.as<op::BatchMatmul>().transposed;
  const std::size_t last = a.dims.size() - 1;
  if (a.dims[last] != b.dims[transposed ? last : last - 1])
    in.fail(fmt::format("inner dimensions differ: {} by {}{}", in.show(a), in.show(b),
                        transposed ? " transposed" : ""));
  Type result{DType::f32, domain, a.dims};
  result.dims[last] = shape_of(a, b, transposed).n;
  expect_dims(in, result.dims);
  return {result};
}

Cost cost_batch_matmul(const InferContext& in) {
  const BatchMatmulShape shape = batch_matmul_shape(in.graph(), in.node());
  const auto size = static_cast<double>(shape.count * shape.m * shape.n);
  Cost cost{.flop = 2 * size * static_cast<double>(shape.k), .bytes = 4 * size};
  for (const std::size_t i : {0, 1})
    (in.operand(i).domain == in.none() ? cost.weight_bytes : cost.bytes) +=
        4 * static_cast<double>(row_size(in.operand(i)));
  return cost;
}

template <typename T>
void evaluate_batch_matmul(EvalContext<T>& context) {
  const auto [count, m, k, n, transposed] = batch_matmul_shape(context.graph, context.node);
  Array<T>& out = context.results[0];
  for (std::int64_t r = 0; r < out.rows; ++r)
    for (std::int64_t matrix = 0; matrix < count; ++matrix) {
      const T* a = context.operand_row(0, r) + matrix * m * k;
      const T* b = context.operand_row(1, r) + matrix * k * n;
      T* c = out.row(r) + matrix * m * n;
      for (std::int64_t i = 0; i < m; ++i)
        for (std::int64_t j = 0; j < n; ++j)
          for (std::int64_t l = 0; l < k; ++l)
            c[i * n + j] += a[i * k + l] * (transposed ? b[j * k + l] : b[l * n + j]);
    }
}

}  // namespace

BatchMatmulShape batch_matmul_shape(const Graph& graph, const Node& node) {
  return shape_of(graph.value(node.operands[0]).type, graph.value(node.operands[1]).type,
                  node.as<op::BatchMatmul>().transposed);
}

std::span<const OpDef> batch_matmul_ops() {
  static const OpDef ops[] = {
      // Not Trait::linear: both operands may have rows, and the rules that rely on the trait move
      // nodes of which only the first operand has rows and the result is a vector.
      define<op::BatchMatmul>(
          {.summary = "a b, or a bᵀ if transposed, for the matrices in each row: [..., m, k] by "
                      "[..., k, n], or [..., n, k] if transposed.",
           .operands = {{"a"}, {"b"}},
           .traits = Trait::row_wise,
           .infer = infer_batch_matmul,
           .cost = cost_batch_matmul,
           .evaluate_f32 = evaluate_batch_matmul<float>,
           .evaluate_f64 = evaluate_batch_matmul<double>}),
  };
  return ops;
}

}  // namespace fuselage
