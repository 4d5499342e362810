// Ops that draw words at random.

#include "fuselage/ops/search/sampling.h"

#include <fmt/format.h>

#include <cmath>

#include "fuselage/ops/evaluate.h"
#include "fuselage/ops/infer.h"
#include "ops/search/draw.h"
#include "ops/search/philox.h"

namespace fuselage {
namespace {

std::vector<Type> infer_uniform(const InferContext& in) {
  if (expect_vector(in, 0) != 4)
    in.fail(fmt::format("operand 0 must be a stream, f32[4], not {}", in.show(in.operand(0))));
  if (in.operand(1).dtype != DType::i32 || !in.operand(1).dims.empty())
    in.fail(fmt::format("operand 1 must be a position, i32[], not {}", in.show(in.operand(1))));
  return {{DType::f32, common_domain(in), {1}}};
}

template <typename T>
void evaluate_uniform(EvalContext<T>& context) {
  Array<T>& out = context.results[0];
  for (std::int64_t r = 0; r < out.rows; ++r)
    out.row(r)[0] = uniform_number(stream_key(context.operand_row(0, r)),
                                   static_cast<std::uint32_t>(context.operand_row(1, r)[0]));
}

void expect_draw(const InferContext& in) {
  const auto draw = in.as<op::Draw>();
  if (!(draw.temperature > 0) || !std::isfinite(draw.temperature))
    in.fail(fmt::format("its temperature must be a number above 0, not {}", draw.temperature));
  if (!(draw.top_p > 0 && draw.top_p <= 1))
    in.fail(fmt::format("top_p must be above 0 and at most 1, not {}", draw.top_p));
  if (!(draw.epsilon >= 0 && draw.epsilon <= 1))
    in.fail(fmt::format("epsilon must be from 0 to 1, not {}", draw.epsilon));
  for (std::size_t i = 0; i < draw.excluded.size(); ++i)
    if (draw.excluded[i] < 0 || (i > 0 && draw.excluded[i] <= draw.excluded[i - 1]))
      in.fail(fmt::format("excluded words must ascend from 0 on; {} does not", draw.excluded[i]));
}

void expect_number(const InferContext& in, std::size_t i) {
  if (expect_vector(in, i) != 1)
    in.fail(fmt::format("operand {} must be a number, f32[1], not {}", i, in.show(in.operand(i))));
}

std::vector<Type> types_of_draw(DomainId domain) {
  return {{DType::f32, domain, {1}}, {DType::i32, domain, {1}}};
}

std::vector<Type> infer_sample(const InferContext& in) {
  const std::int64_t width = expect_vector(in, 0);
  expect_number(in, 1);
  expect_draw(in);
  const auto sample = in.as<op::Sample>();
  const bool listed = in.operand_count() > 2;
  if (listed && (in.operand(2).dtype != DType::i32 || in.operand(2).dims != Dims{width}))
    in.fail(fmt::format("operand 2 must have a word for each score, i32[{}], not {}", width,
                        in.show(in.operand(2))));
  if (sample.top_k < 0 || (sample.top_k > 0 && !listed))
    in.fail(fmt::format("top_k = {} is for the words of a list, in operand 2", sample.top_k));
  if (!listed && !sample.excluded.empty() && sample.excluded.back() >= width)
    in.fail(fmt::format("it excludes word {}, but {} has none", sample.excluded.back(),
                        in.show(in.operand(0))));
  return types_of_draw(common_domain(in));
}

std::vector<Type> infer_segment_sample(const InferContext& in) {
  const RowMap& map = grouping_map(in);
  const auto [from, to] = path_ends(in, in.as<op::SegmentSample>().words);
  const Type& x = in.operand(0);
  if (x.domain != map.from || from != map.from || expect_vector(in, 0) != 1)
    in.fail(
        fmt::format("its operand must be one number for each row of '{}', and its path start "
                    "there; it is {}",
                    in.graph().domain(map.from).name, in.show(x)));
  if (to == in.none()) in.fail("its path leads to no rows");
  expect_number(in, 1);
  if (in.operand(1).domain != map.to && in.operand(1).domain != in.none())
    in.fail(fmt::format("operand 1 must be a number for each row of '{}', not {}",
                        in.graph().domain(map.to).name, in.show(in.operand(1))));
  expect_draw(in);
  return types_of_draw(map.to);
}

Cost cost_sample(const InferContext& in) {
  const auto width = static_cast<double>(row_size(in.operand(0)));
  return {.flop = 20 * width, .bytes = 4 * width};
}

/// softmax(x / temperature), in place; NaN if no score is a number above -infinity.
template <typename T>
void to_probabilities(std::span<T> x, double temperature) {
  T largest = -std::numeric_limits<T>::infinity();
  for (const T score : x) largest = std::max(largest, score);
  T sum = 0;
  for (T& score : x) {
    score = std::exp((score - largest) / static_cast<T>(temperature));
    sum += score;
  }
  for (T& score : x) score /= sum;
}

/// Draws from `scores`, which are overwritten: the index; -1: none.
template <typename T>
std::int64_t draw_from(std::span<T> scores, const op::Draw& rule, T u) {
  std::vector<std::int32_t> order;
  to_probabilities(scores, rule.temperature);
  return draw(scores, rule, static_cast<double>(u), order);
}

template <typename T>
void evaluate_sample(EvalContext<T>& context) {
  const auto sample = context.node.template as<op::Sample>();
  const auto rule = context.node.template as<op::Draw>();
  const bool listed = context.operands.size() > 2;
  const auto width = static_cast<std::size_t>(context.operands[0]->cols);
  for (std::int64_t r = 0; r < context.results[0].rows; ++r) {
    const T* row = context.operand_row(0, r);
    const T* words = listed ? context.operand_row(2, r) : nullptr;
    std::vector<T> scores(row, row + width);
    leave_out(std::span(scores), sample.excluded, sample.top_k,
              [&](std::size_t i) { return words ? words[i] : static_cast<T>(i); });
    const std::int64_t drawn = draw_from(std::span(scores), rule, context.operand_row(1, r)[0]);
    context.results[0].row(r)[0] = drawn < 0 ? -std::numeric_limits<T>::infinity() : row[drawn];
    context.results[1].row(r)[0] = drawn < 0 || !words ? static_cast<T>(drawn) : words[drawn];
  }
}

template <typename T>
void evaluate_segment_sample(EvalContext<T>& context) {
  const auto sample = context.node.template as<op::SegmentSample>();
  const auto rule = context.node.template as<op::Draw>();
  std::vector<std::int32_t> ids;
  context.rows.resolve(sample.words, ids);
  const auto begin = context.rows.segments(sample.to.front());
  for (std::int64_t r = 0; r < context.results[0].rows; ++r) {
    const auto first = begin[static_cast<std::size_t>(r)];
    const T* row = context.operands[0]->data.data() + first;
    const std::int32_t* words = ids.data() + first;
    std::vector<T> scores(
        row, context.operands[0]->data.data() + begin[static_cast<std::size_t>(r) + 1]);
    leave_out(std::span(scores), sample.excluded, 0, [&](std::size_t i) { return words[i]; });
    const std::int64_t drawn = draw_from(std::span(scores), rule, context.operand_row(1, r)[0]);
    context.results[0].row(r)[0] = drawn < 0 ? -std::numeric_limits<T>::infinity() : row[drawn];
    context.results[1].row(r)[0] = drawn < 0 ? T{-1} : static_cast<T>(words[drawn]);
  }
}

}  // namespace

std::span<const OpDef> sampling_ops() {
  using enum OperandSpec::Arity;
  static const OpDef ops[] = {
      define<op::Uniform>(
          {.summary = "A random number above 0 and below 1: number `position` of a stream of "
                      "Philox4x32-10, whose key is given as four numbers of 16 bits.",
           .operands = {{"stream"}, {"position"}},
           .traits = Trait::row_wise,
           .infer = infer_uniform,
           .evaluate_f32 = evaluate_uniform<float>,
           .evaluate_f64 = evaluate_uniform<double>}),
      define<op::Sample>(
          {.summary = "A word drawn with the probabilities softmax(scores / temperature), of the "
                      "first top_k words, of the nucleus top_p and of words of at least the "
                      "probability epsilon, by a random number: its score and the word. None: "
                      "-inf and -1.",
           .operands = {{"scores"}, {"random"}, {"words", optional}},
           .traits = Trait::row_wise,
           .infer = infer_sample,
           .cost = cost_sample,
           .evaluate_f32 = evaluate_sample<float>,
           .evaluate_f64 = evaluate_sample<double>}),
      define<op::SegmentSample>(
          {.summary = "The same for the rows that `to` maps to one row; words are the images of "
                      "these rows under `words`.",
           .operands = {{"scores"}, {"random"}},
           .infer = infer_segment_sample,
           .cost = cost_sample,
           .evaluate_f32 = evaluate_segment_sample<float>,
           .evaluate_f64 = evaluate_segment_sample<double>}),
  };
  return ops;
}

}  // namespace fuselage
