// Concatenation, slicing, reshaping, repetition and permutation.

#include "fuselage/ops/structure/shape.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "fuselage/base/error.h"
#include "fuselage/ops/evaluate.h"
#include "fuselage/ops/infer.h"
#include "fuselage/ops/precision/quantize.h"
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

std::vector<Type> infer_expand(const InferContext& in) {
  expect_f32(in, 0);
  const Type& x = in.operand(0);
  const Dims dims = in.as<op::Expand>().dims;
  expect_dims(in, dims);
  const bool fits =
      dims.size() >= x.dims.size() &&
      std::equal(x.dims.rbegin(), x.dims.rend(), dims.rbegin(),
                 [](std::int64_t from, std::int64_t to) { return from == to || from == 1; });
  if (!fits)
    in.fail(
        fmt::format("{} cannot be repeated to [{}]: from the last dimension on, each must be "
                    "1 or stay",
                    in.show(x), fmt::join(dims, ", ")));
  return {{DType::f32, x.domain, dims}};
}

std::vector<Type> infer_permute(const InferContext& in) {
  expect_f32(in, 0);
  const Type& x = in.operand(0);
  const Dims order = in.as<op::Permute>().order;
  Dims all(x.dims.size());
  std::iota(all.begin(), all.end(), 0);
  if (!std::is_permutation(order.begin(), order.end(), all.begin(), all.end()))
    in.fail(fmt::format("[{}] is no order of the {} dimensions of {}", fmt::join(order, ", "),
                        all.size(), in.show(x)));
  Type result = x;
  for (std::size_t i = 0; i < order.size(); ++i)
    result.dims[i] = x.dims[static_cast<std::size_t>(order[i])];
  return {result};
}

/// Elements read and written, which differ if dimensions are repeated.
Cost cost_expand(const InferContext& in) {
  const Type result{DType::f32, in.operand(0).domain, in.as<op::Expand>().dims};
  return {.bytes = 4 * static_cast<double>(row_size(in.operand(0)) + row_size(result))};
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
void evaluate_view(EvalContext<T>& context) {
  StridedView view = strided_view(context.graph, context.node);
  const std::int64_t length = view.sizes.back(), stride = view.strides.back();
  view.sizes.pop_back();
  view.strides.pop_back();
  const std::vector<std::int64_t> starts = elements_of(view);
  auto to = context.results[0].data.begin();
  for (std::int64_t r = 0; r < context.results[0].rows; ++r)
    for (const std::int64_t start : starts) {
      const T* x = context.operands[0]->row(r) + start;
      for (std::int64_t i = 0; i < length; ++i) *to++ = x[i * stride];
    }
}

/// The distances between elements of a row that are neighbours along each dimension.
Dims strides_of(const Dims& dims) {
  Dims strides(dims.size(), 1);
  for (std::size_t i = dims.size(); i-- > 1;) strides[i - 1] = strides[i] * dims[i];
  return strides;
}

/// Leaves out dimensions of one element and joins neighbours that are one dimension in the operand.
StridedView simplified(const StridedView& view) {
  StridedView simple{.offset = view.offset};
  for (std::size_t d = 0; d < view.sizes.size(); ++d) {
    const std::int64_t size = view.sizes[d], stride = view.strides[d];
    if (size == 1) continue;
    if (!simple.sizes.empty() && simple.strides.back() == size * stride) {
      simple.sizes.back() *= size;
      simple.strides.back() = stride;
    } else {
      simple.sizes.push_back(size);
      simple.strides.push_back(stride);
    }
  }
  if (simple.sizes.empty()) {
    simple.sizes.push_back(1);
    simple.strides.push_back(1);
  }
  return simple;
}

/// The view of a node before its simplification.
StridedView plain_view(const Node& node, const Dims& from, const Dims& to) {
  StridedView view{.sizes = to, .strides = strides_of(from)};
  if (node.is<op::Slice>()) {
    view.offset = node.as<op::Slice>().begin;
  } else if (node.is<op::SliceLeading>()) {
    view.offset = node.as<op::SliceLeading>().begin * view.strides.front();
  } else if (node.is<op::Transpose>()) {
    std::swap(view.strides[0], view.strides[1]);
  } else if (node.is<op::Permute>()) {
    const Dims order = node.as<op::Permute>().order;
    const Dims strides = view.strides;
    std::transform(order.begin(), order.end(), view.strides.begin(),
                   [&](std::int64_t d) { return strides[static_cast<std::size_t>(d)]; });
  } else {
    check(node.is<op::Expand>(), "strided_view: an op without a view");
    view.strides.insert(view.strides.begin(), to.size() - from.size(), 0);
    for (std::size_t d = 0; d < from.size(); ++d)
      if (from[from.size() - 1 - d] == 1) view.strides[to.size() - 1 - d] = 0;
  }
  return view;
}

}  // namespace

StridedView strided_view(const Graph& graph, const Node& node) {
  return simplified(plain_view(node, graph.value(node.operands[0]).type.dims,
                               graph.value(node.results[0]).type.dims));
}

std::vector<std::int64_t> elements_of(const StridedView& view) {
  std::vector<std::int64_t> elements{view.offset};
  for (std::size_t d = 0; d < view.sizes.size(); ++d) {
    std::vector<std::int64_t> next;
    next.reserve(elements.size() * static_cast<std::size_t>(view.sizes[d]));
    for (const std::int64_t at : elements)
      for (std::int64_t i = 0; i < view.sizes[d]; ++i) next.push_back(at + i * view.strides[d]);
    elements = std::move(next);
  }
  return elements;
}

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
                         .evaluate_f32 = evaluate_view<float>,
                         .evaluate_f64 = evaluate_view<double>}),
      define<op::SliceLeading>(
          {.summary = "x[begin:end, …], a range of the leading dimension: rows of a matrix.",
           .operands = {{"x"}},
           .traits = Trait::row_wise | Trait::linear,
           .infer = infer_slice_leading,
           .cost = cost_copy,
           .evaluate_f32 = evaluate_view<float>,
           .evaluate_f64 = evaluate_view<double>}),
      define<op::Reshape>({.summary = "The same elements under other dimensions of a row.",
                           .operands = {{"x"}},
                           .traits = Trait::row_wise | Trait::linear,
                           .infer = infer_reshape,
                           .cost = cost_copy},
                          [](const op::Reshape&, auto in, auto out) {
                            std::copy_n(in[0].data(), out.size(), out.begin());
                          }),
      define<op::Expand>({.summary = "Dimensions of size 1 repeated to `dims`; missing leading "
                                     "dimensions count as 1.",
                          .operands = {{"x"}},
                          .traits = Trait::row_wise | Trait::linear,
                          .infer = infer_expand,
                          .cost = cost_expand,
                          .evaluate_f32 = evaluate_view<float>,
                          .evaluate_f64 = evaluate_view<double>}),
      define<op::Permute>({.summary = "The dimensions of a row in another order: dimension i of "
                                      "the result is dimension order[i] of x.",
                           .operands = {{"x"}},
                           .traits = Trait::row_wise | Trait::linear,
                           .infer = infer_permute,
                           .cost = cost_copy,
                           .evaluate_f32 = evaluate_view<float>,
                           .evaluate_f64 = evaluate_view<double>}),
  };
  return ops;
}

}  // namespace fuselage
