// Positions of tokens in their sentences, their sinusoidal encoding, and rotary positions.

#include "fuselage/ops/structure/positions.h"

#include <fmt/format.h>

#include <cmath>

#include "fuselage/ops/evaluate.h"
#include "fuselage/ops/infer.h"
#include "fuselage/ops/row_function.h"

namespace fuselage {
namespace {

std::vector<Type> infer_position(const InferContext& in) {
  const DomainId id = in.as<op::Position>().domain;
  const Domain& domain = in.graph().domain(id);
  if (domain.kind != DomainKind::source && domain.kind != DomainKind::hypothesis)
    in.fail(fmt::format("rows of a {} domain have no position", to_string(domain.kind)));
  return {{DType::i32, id, {}}};
}

template <typename T>
void evaluate_position(EvalContext<T>& context) {
  const auto positions = context.rows.positions(context.node.template as<op::Position>().domain);
  std::copy(positions.begin(), positions.end(), context.results[0].data.begin());
}

std::vector<Type> infer_sinusoid(const InferContext& in) {
  const auto dim = in.as<op::Sinusoid>().dim;
  if (in.operand(0).dtype != DType::i32 || !in.operand(0).dims.empty())
    in.fail(fmt::format("its operand must be one i32 a row, not {}", in.show(in.operand(0))));
  if (dim < 4 || dim % 2 != 0)
    in.fail(fmt::format("the width of a position signal must be even and at least 4, not {}", dim));
  return {{DType::f32, in.operand(0).domain, {dim}}};
}

// The angle is rounded to float in both precisions: at position 500 its rounding alone can make two
// implementations differ by 1e-4.
template <typename T>
void evaluate_sinusoid(EvalContext<T>& context) {
  Array<T>& out = context.results[0];
  const std::int64_t half = out.cols / 2;
  const float increment = std::log(10000.0f) / (static_cast<float>(half) - 1.0f);
  for (std::int64_t r = 0; r < out.rows; ++r)
    for (std::int64_t i = 0; i < half; ++i) {
      const float angle = static_cast<float>(context.operand_row(0, r)[0]) *
                          std::exp(static_cast<float>(i) * -increment);
      out.row(r)[i] = std::sin(static_cast<T>(angle));
      out.row(r)[half + i] = std::cos(static_cast<T>(angle));
    }
}

std::vector<Type> infer_rotary(const InferContext& in) {
  const std::int64_t width = expect_vector(in, 0);
  const std::int64_t heads = in.as<op::Rotary>().heads;
  if (heads <= 0 || width % (2 * heads) != 0)
    in.fail(fmt::format("{} cannot be cut into {} heads of an even width", in.show(in.operand(0)),
                        heads));
  const std::int64_t half = width / (2 * heads);
  for (const std::size_t i : {1, 2})
    if (expect_vector(in, i) != half)
      in.fail(fmt::format("operand {} must have {} elements, half of a head, not {}", i, half,
                          in.show(in.operand(i))));
  return {{DType::f32, common_domain(in), {width}}};
}

Cost cost_rotary(const InferContext& in) {
  const auto width = static_cast<double>(row_size(in.operand(0)));
  const double angles = 2 * static_cast<double>(row_size(in.operand(1)));
  return {.flop = 3 * width, .bytes = 4 * (2 * width + angles)};
}

constexpr auto kRotate = []<typename T>(const op::Rotary& op, RowOperands<T> in, std::span<T> out) {
  const std::size_t half = in[1].size();
  for (std::int64_t head = 0; head < op.heads; ++head) {
    const std::size_t begin = static_cast<std::size_t>(head) * 2 * half;
    const T* a = in[0].data() + begin;
    const T* b = a + half;
    T* to = out.data() + begin;
    for (std::size_t i = 0; i < half; ++i) {
      const T cos = in[1].data()[i], sin = in[2].data()[i];
      to[i] = a[i] * cos - b[i] * sin;
      to[half + i] = b[i] * cos + a[i] * sin;
    }
  }
};

}  // namespace

std::span<const OpDef> position_ops() {
  static const OpDef ops[] = {
      define<op::Position>({.summary = "Position of each row in its sentence, from 0.",
                            .infer = infer_position,
                            .evaluate_f32 = evaluate_position<float>,
                            .evaluate_f64 = evaluate_position<double>}),
      define<op::Sinusoid>(
          {.summary = "[sin(p f₀) … | cos(p f₀) …], fᵢ = 10000^(-i / (dim/2 - 1)).",
           .operands = {{"position"}},
           .traits = Trait::row_wise,
           .infer = infer_sinusoid,
           .evaluate_f32 = evaluate_sinusoid<float>,
           .evaluate_f64 = evaluate_sinusoid<double>}),
      define<op::Rotary>({.summary = "Rotary positions: [a cos - b sin | b cos + a sin] for the "
                                     "halves [a | b] of each head of x; all heads have the same "
                                     "cos and sin.",
                          .operands = {{"x"}, {"cos"}, {"sin"}},
                          .traits = Trait::row_wise,
                          .infer = infer_rotary,
                          .cost = cost_rotary},
                         kRotate),
  };
  return ops;
}

}  // namespace fuselage
