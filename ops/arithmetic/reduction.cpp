// Reductions over the last dimension of a row.

#include "fuselage/ops/arithmetic/reduction.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <limits>

#include "fuselage/ops/infer.h"
#include "fuselage/ops/row_function.h"

namespace fuselage {
namespace {

std::vector<Type> infer_reduction(const InferContext& in) {
  expect_f32(in, 0);
  const Type& x = in.operand(0);
  if (x.dims.empty())
    in.fail(fmt::format("it reduces the last dimension, which {} lacks", in.show(x)));
  Dims dims(x.dims.begin(), x.dims.end() - 1);
  if (dims.empty()) dims.push_back(1);
  return {{DType::f32, x.domain, std::move(dims)}};
}

Cost cost_reduction(const InferContext& in) {
  const auto n = static_cast<double>(row_size(in.operand(0)));
  const auto results = n / static_cast<double>(in.operand(0).dims.back());
  return {.flop = n, .bytes = 4 * (n + results)};
}

/// Folds `n` elements in 16 lanes, then the lanes pairwise: the order of the vector functions of
/// the CPU, which compilers can vectorize.
template <typename T, typename F>
T fold(const T* x, std::size_t n, T first, F combine) {
  constexpr std::size_t kLanes = 16;
  std::array<T, kLanes> lanes;
  lanes.fill(first);
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      lanes[lane] = combine(lanes[lane], x[i + lane]);
  for (std::size_t lane = 0; i + lane < n; ++lane) lanes[lane] = combine(lanes[lane], x[i + lane]);
  for (std::size_t half = kLanes / 2; half > 0; half /= 2)
    for (std::size_t lane = 0; lane < half; ++lane)
      lanes[lane] = combine(lanes[lane], lanes[lane + half]);
  return lanes[0];
}

template <typename T>
T sum(const T* x, std::size_t n) {
  return fold(x, n, T{0}, [](T a, T b) { return a + b; });
}

template <typename T>
T largest(const T* x, std::size_t n) {
  // A comparison with NaN is false.
  return fold(x, n, -std::numeric_limits<T>::infinity(),
              [](T a, T b) { return b > a || std::isnan(b) ? b : a; });
}

/// Defines a reduction by a generic lambda for `n` elements.
template <typename Op, typename F>
OpDef reduction(std::string_view summary, Traits traits, F) {
  return define<Op>({.summary = summary,
                     .operands = {{"x"}},
                     .traits = traits,
                     .infer = infer_reduction,
                     .cost = cost_reduction},
                    [](const Op&, auto in, auto out) {
                      const std::size_t n = in[0].size() / out.size();
                      for (std::size_t i = 0; i < out.size(); ++i)
                        out[i] = F{}(in[0].data() + i * n, n);
                    });
}

}  // namespace

std::span<const OpDef> reduction_ops() {
  static const OpDef ops[] = {
      reduction<op::ReduceSum>("Sum over the last dimension.", Trait::row_wise | Trait::linear,
                               [](const auto* x, std::size_t n) { return sum(x, n); }),
      reduction<op::ReduceMax>("Maximum over the last dimension; NaN if an element is NaN.",
                               Trait::row_wise,
                               [](const auto* x, std::size_t n) { return largest(x, n); }),
      reduction<op::ReduceMean>(
          "Mean over the last dimension.", Trait::row_wise | Trait::linear,
          []<typename T>(const T* x, std::size_t n) { return sum(x, n) / static_cast<T>(n); }),
  };
  return ops;
}

}  // namespace fuselage
