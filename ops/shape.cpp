// Concatenation, slicing and reshaping.

#include "fuselage/ops/shape.h"

#include <fmt/format.h>

#include <algorithm>

#include "fuselage/ops/evaluate.h"
#include "fuselage/ops/infer.h"
#include "fuselage/ops/row_function.h"

namespace fuselage {
namespace {

Type replace_last(Type type, std::int64_t last) {
  type.dims.back() = last;
  return type;
}

/// All operands agree except for their last dimension.
std::vector<Type> infer_concat(const InferContext& in) {
  std::int64_t width = 0;
  for (std::size_t i = 0; i < in.operand_count(); ++i) {
    expect_f32(in, i);
    const Type& type = in.operand(i);
    if (type.dims.empty() || type.domain != in.operand(0).domain ||
        type.dims.size() != in.operand(0).dims.size() ||
        !std::equal(type.dims.begin(), type.dims.end() - 1, in.operand(0).dims.begin()))
      in.fail(fmt::format("operands 0 and {} cannot stand side by side: {} and {}", i,
                          in.show(in.operand(0)), in.show(type)));
    width += type.dims.back();
  }
  return {replace_last(in.operand(0), width)};
}

std::vector<Type> infer_slice(const InferContext& in) {
  expect_f32(in, 0);
  const Type& x = in.operand(0);
  const auto [begin, end] = in.as<op::Range>();
  if (x.dims.empty() || begin < 0 || begin >= end || end > x.dims.back())
    in.fail(fmt::format("elements {} to {} are not a part of {}", begin, end, in.show(x)));
  return {replace_last(x, end - begin)};
}

std::vector<Type> infer_slice_leading(const InferContext& in) {
  expect_f32(in, 0);
  Type type = in.operand(0);
  const auto [begin, end] = in.as<op::Range>();
  // Vectors use `slice`, so that there is one way to write it.
  if (type.dims.size() < 2)
    in.fail(fmt::format("it needs two dimensions or more, not {}", in.show(type)));
  if (begin < 0 || begin >= end || end > type.dims.front())
    in.fail(fmt::format("rows {} to {} are not a part of {}", begin, end, in.show(type)));
  type.dims.front() = end - begin;
  return {type};
}

std::vector<Type> infer_reshape(const InferContext& in) {
  expect_f32(in, 0);
  const Type& x = in.operand(0);
  const Type result{DType::f32, x.domain, in.as<op::Reshape>().dims};
  expect_dims(in, result.dims);
  if (row_size(result) != row_size(x))
    in.fail(fmt::format("numbers of elements differ: {} has {} a row, {} has {}", in.show(x),
                        row_size(x), in.show(result), row_size(result)));
  return {result};
}

Cost cost_copy(const InferContext& in) {
  double size = 0;
  for (std::size_t i = 0; i < in.operand_count(); ++i)
    size += static_cast<double>(row_size(in.operand(i)));
  return {.bytes = 8 * size};
}

std::int64_t last_dim(const Type& type) { return type.dims.back(); }

// Leading dimensions are treated as further rows.
template <typename T>
void evaluate_concat(EvalContext<T>& context) {
  Array<T>& out = context.results[0];
  const std::int64_t width = last_dim(context.graph.value(context.node.results[0]).type);
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < context.operands.size(); ++i) {
    const std::int64_t part = last_dim(context.operand_type(i));
    const T* from = context.operands[i]->data.data();
    for (std::int64_t at = offset; at < out.rows * out.cols; at += width, from += part)
      std::copy(from, from + part, out.data.data() + at);
    offset += part;
  }
}

template <typename T>
void evaluate_slice(EvalContext<T>& context) {
  const auto begin = context.node.template as<op::Range>().begin;
  const std::int64_t width = last_dim(context.operand_type(0));
  const std::int64_t part = last_dim(context.graph.value(context.node.results[0]).type);
  auto to = context.results[0].data.begin();
  const auto& from = context.operands[0]->data;
  for (auto at = from.begin(); at != from.end(); at += width)
    to = std::copy(at + begin, at + begin + part, to);
}

template <typename T>
void evaluate_slice_leading(EvalContext<T>& context) {
  const auto begin = context.node.template as<op::Range>().begin;
  const Array<T>& x = *context.operands[0];
  Array<T>& out = context.results[0];
  const std::int64_t skipped = begin * (x.cols / context.operand_type(0).dims.front());
  for (std::int64_t r = 0; r < out.rows; ++r) std::copy_n(x.row(r) + skipped, out.cols, out.row(r));
}

}  // namespace

std::span<const OpDef> shape_ops() {
  static const OpDef ops[] = {
      define<op::Concat>({.summary = "[x0 | x1 | …], along the last dimension.",
                          .operands = {{"x", OperandSpec::Arity::repeated}},
                          .traits = Trait::row_wise,
                          .infer = infer_concat,
                          .cost = cost_copy,
                          .evaluate_f32 = evaluate_concat<float>,
                          .evaluate_f64 = evaluate_concat<double>}),
      define<op::Slice>({.summary = "x[…, begin:end], a range of the last dimension.",
                         .operands = {{"x"}},
                         .traits = Trait::row_wise | Trait::linear | Trait::slices,
                         .infer = infer_slice,
                         .cost = cost_copy,
                         .evaluate_f32 = evaluate_slice<float>,
                         .evaluate_f64 = evaluate_slice<double>}),
      define<op::SliceLeading>(
          {.summary = "x[begin:end, …], a range of the leading dimension: rows of a matrix.",
           .operands = {{"x"}},
           .traits = Trait::row_wise | Trait::linear,
           .infer = infer_slice_leading,
           .cost = cost_copy,
           .evaluate_f32 = evaluate_slice_leading<float>,
           .evaluate_f64 = evaluate_slice_leading<double>}),
      define<op::Reshape>({.summary = "The same elements under other dimensions of a row.",
                           .operands = {{"x"}},
                           .traits = Trait::row_wise | Trait::linear,
                           .infer = infer_reshape,
                           .cost = cost_copy},
                          [](const op::Reshape&, auto in, auto out) {
                            std::copy_n(in[0].data(), out.size(), out.begin());
                          }),
  };
  return ops;
}

}  // namespace fuselage
