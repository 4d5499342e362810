// Selecting and mixing rows: the ops that change the row domain of a value.

#include "fuselage/ops/structure/rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "fuselage/ops/infer.h"
#include "ops/eigen_view.h"

namespace fuselage {
namespace {

std::vector<Type> infer_select(const InferContext& in) {
  const auto [from, to] = path_ends(in, in.as<op::SelectRows>().via);
  Type type = in.operand(0);
  if (type.domain != to)
    in.fail(fmt::format("its path leads to rows of '{}', but the operand is {}",
                        in.graph().domain(to).name, in.show(type)));
  if (in.operand_count() > 1) {
    const Type& fallback = in.operand(1);
    if (fallback.domain != in.none() || fallback.dims != type.dims || fallback.dtype != type.dtype)
      in.fail(fmt::format("its default row must be {}, not {}",
                          in.show({type.dtype, in.none(), type.dims}), in.show(fallback)));
  }
  type.domain = from;
  expect_even_if_half(in, type);
  return {type};
}

std::vector<Type> infer_segment_softmax(const InferContext& in) {
  expect_f32(in, 0);
  const RowMap& map = grouping_map(in);
  if (in.operand(0).domain != map.from)
    in.fail(fmt::format("its operand must have the rows of '{}', not {}",
                        in.graph().domain(map.from).name, in.show(in.operand(0))));
  return {in.operand(0)};
}

std::vector<Type> infer_mix(const InferContext& in) {
  expect_f32(in, 0);
  const std::int64_t width = expect_vector(in, 1);
  const RowMap& map = grouping_map(in);
  const auto [from, to] = path_ends(in, in.as<op::MixRows>().via);
  const Type& weights = in.operand(0);
  if (weights.domain != map.from || from != map.from)
    in.fail(fmt::format("its weights, {}, must have the rows of '{}', and its path start there",
                        in.show(weights), in.graph().domain(map.from).name));
  if (in.operand(1).domain != to)
    in.fail(fmt::format("its path leads to rows of '{}', but the mixed value is {}",
                        in.graph().domain(to).name, in.show(in.operand(1))));
  if (weights.dims.size() != 1 || width % weights.dims[0] != 0)
    in.fail(fmt::format("{} cannot be cut into {} heads", in.show(in.operand(1)),
                        weights.dims.empty() ? 0 : weights.dims[0]));
  return {{DType::f32, map.to, in.operand(1).dims}};
}

std::vector<Type> infer_reduction(const InferContext& in) {
  expect_f32(in, 0);
  const RowMap& map = grouping_map(in);
  if (in.operand(0).domain != map.from)
    in.fail(fmt::format("its operand must have the rows of '{}', not {}",
                        in.graph().domain(map.from).name, in.show(in.operand(0))));
  return {{DType::f32, map.to, in.operand(0).dims}};
}

Cost cost_select(const InferContext& in) {
  return {.bytes = 8.0 * static_cast<double>(row_size(in.operand(0)))};
}

template <typename T>
void evaluate_select(EvalContext<T>& context) {
  std::vector<std::int32_t> index;
  context.rows.resolve(context.node.template as<op::Via>().via, index);
  Array<T>& out = context.results[0];
  for (std::int64_t r = 0; r < out.rows; ++r) {
    const std::int32_t from = index[static_cast<std::size_t>(r)];
    const T* row = nullptr;
    if (from >= 0)
      row = context.operands[0]->row(from);
    else if (context.operands.size() > 1)
      row = context.operands[1]->row(0);
    if (row) std::copy(row, row + out.cols, out.row(r));
  }
}

template <typename T>
std::span<const std::int32_t> segments(const EvalContext<T>& context) {
  return context.rows.segments(context.node.template as<op::Segments>().to.front());
}

template <typename T>
void evaluate_segment_softmax(EvalContext<T>& context) {
  const auto begin = segments(context);
  for (std::size_t s = 0; s + 1 < begin.size(); ++s) {
    const std::int64_t count = begin[s + 1] - begin[s];
    if (count == 0) continue;
    const auto x = view(*context.operands[0]).middleRows(begin[s], count).array();
    auto y = view(context.results[0]).middleRows(begin[s], count).array();
    y = (x.rowwise() - x.colwise().maxCoeff()).exp();
    const Eigen::Array<T, 1, Eigen::Dynamic> sum = y.colwise().sum();
    y.rowwise() /= sum;
  }
}

template <typename T>
void evaluate_segment_log_softmax(EvalContext<T>& context) {
  const auto begin = segments(context);
  for (std::size_t s = 0; s + 1 < begin.size(); ++s) {
    const std::int64_t count = begin[s + 1] - begin[s];
    if (count == 0) continue;
    const auto x = view(*context.operands[0]).middleRows(begin[s], count).array();
    auto y = view(context.results[0]).middleRows(begin[s], count).array();
    y = x.rowwise() - x.colwise().maxCoeff();
    const Eigen::Array<T, 1, Eigen::Dynamic> log_sum = y.exp().colwise().sum().log();
    y.rowwise() -= log_sum;
  }
}

template <typename T>
void evaluate_mix(EvalContext<T>& context) {
  std::vector<std::int32_t> index;
  context.rows.resolve(context.node.template as<op::Via>().via, index);
  const auto begin = segments(context);
  const Array<T>& weights = *context.operands[0];
  Array<T>& out = context.results[0];
  const std::int64_t head_width = out.cols / weights.cols;
  for (std::size_t s = 0; s + 1 < begin.size(); ++s)
    for (std::int32_t p = begin[s]; p < begin[s + 1]; ++p) {
      const std::int32_t from = index[static_cast<std::size_t>(p)];
      if (from < 0) continue;
      const T* x = context.operands[1]->row(from);
      T* y = out.row(static_cast<std::int64_t>(s));
      for (std::int64_t c = 0; c < out.cols; ++c) y[c] += weights.row(p)[c / head_width] * x[c];
    }
}

template <typename T>
void evaluate_mean(EvalContext<T>& context) {
  const auto begin = segments(context);
  for (std::size_t s = 0; s + 1 < begin.size(); ++s) {
    const std::int64_t count = begin[s + 1] - begin[s];
    if (count > 0)
      view(context.results[0]).row(static_cast<std::int64_t>(s)) =
          view(*context.operands[0]).middleRows(begin[s], count).colwise().mean();
  }
}

template <typename T>
void evaluate_sum(EvalContext<T>& context) {
  const auto begin = segments(context);
  for (std::size_t s = 0; s + 1 < begin.size(); ++s)
    view(context.results[0]).row(static_cast<std::int64_t>(s)) =
        view(*context.operands[0]).middleRows(begin[s], begin[s + 1] - begin[s]).colwise().sum();
}

template <typename T>
void evaluate_max(EvalContext<T>& context) {
  const auto begin = segments(context);
  Array<T>& out = context.results[0];
  std::ranges::fill(out.data, -std::numeric_limits<T>::infinity());
  for (std::size_t s = 0; s + 1 < begin.size(); ++s)
    for (std::int32_t p = begin[s]; p < begin[s + 1]; ++p)
      for (std::int64_t c = 0; c < out.cols; ++c) {
        const T x = context.operands[0]->row(p)[c];
        T& largest = out.row(static_cast<std::int64_t>(s))[c];
        // A comparison with NaN is false.
        if (x > largest || std::isnan(x)) largest = x;
      }
}

template <typename T>
void evaluate_segment_log_sum_exp(EvalContext<T>& context) {
  evaluate_max(context);  // the shifts
  const auto begin = segments(context);
  Array<T>& out = context.results[0];
  for (std::size_t s = 0; s + 1 < begin.size(); ++s)
    for (std::int64_t c = 0; c < out.cols; ++c) {
      T& result = out.row(static_cast<std::int64_t>(s))[c];
      const T shift = result == -std::numeric_limits<T>::infinity() ? 0 : result;
      T sum = 0;
      for (std::int32_t p = begin[s]; p < begin[s + 1]; ++p)
        sum += std::exp(context.operands[0]->row(p)[c] - shift);
      result = std::log(sum) + shift;
    }
}

}  // namespace

std::span<const OpDef> row_ops() {
  static const OpDef ops[] = {
      define<op::SelectRows>(
          {.summary = "y(r) = x(via(r)); where `via` leads nowhere, the default row, else zeros.",
           .operands = {{.name = "x", .through = "via"}, {"default", OperandSpec::Arity::optional}},
           .traits = Trait::selects_rows,
           .infer = infer_select,
           .cost = cost_select,
           .evaluate_f32 = evaluate_select<float>,
           .evaluate_f64 = evaluate_select<double>}),
      define<op::SegmentSoftmax>(
          {.summary =
               "exp(x) / sum exp(x), over the rows that `to` maps to one row, column by column.",
           .operands = {{"x"}},
           .infer = infer_segment_softmax,
           .evaluate_f32 = evaluate_segment_softmax<float>,
           .evaluate_f64 = evaluate_segment_softmax<double>}),
      define<op::SegmentLogSoftmax>(
          {.summary =
               "x - log sum exp(x), over the rows that `to` maps to one row, column by column.",
           .operands = {{"x"}},
           .infer = infer_segment_softmax,
           .evaluate_f32 = evaluate_segment_log_softmax<float>,
           .evaluate_f64 = evaluate_segment_log_softmax<double>}),
      define<op::MixRows>({.summary = "y(r) = sum of weights(p) × x(via(p)) over the pairs p with "
                                      "to(p) = r, head by head: attention.",
                           .operands = {{"weights"}, {.name = "x", .through = "via"}},
                           .traits = Trait::mixes_rows,
                           .infer = infer_mix,
                           .evaluate_f32 = evaluate_mix<float>,
                           .evaluate_f64 = evaluate_mix<double>}),
      define<op::MeanRows>({.summary = "y(r) = mean of the rows of x that `to` maps to r.",
                            .operands = {{"x"}},
                            .traits = Trait::mixes_rows,
                            .infer = infer_reduction,
                            .evaluate_f32 = evaluate_mean<float>,
                            .evaluate_f64 = evaluate_mean<double>}),
      define<op::SumRows>({.summary = "y(r) = sum of the rows of x that `to` maps to r.",
                           .operands = {{"x"}},
                           .traits = Trait::mixes_rows,
                           .infer = infer_reduction,
                           .evaluate_f32 = evaluate_sum<float>,
                           .evaluate_f64 = evaluate_sum<double>}),
      define<op::MaxRows>({.summary = "y(r) = maximum of the rows of x that `to` maps to r, column "
                                      "by column; -infinity if there are none.",
                           .operands = {{"x"}},
                           .infer = infer_reduction,
                           .evaluate_f32 = evaluate_max<float>,
                           .evaluate_f64 = evaluate_max<double>}),
      define<op::SegmentLogSumExp>(
          {.summary = "y(r) = log sum exp of the rows of x that `to` maps to r, column by column; "
                      "-infinity if there are none.",
           .operands = {{"x"}},
           .infer = infer_reduction,
           .evaluate_f32 = evaluate_segment_log_sum_exp<float>,
           .evaluate_f64 = evaluate_segment_log_sum_exp<double>}),
  };
  return ops;
}

}  // namespace fuselage
