// Ops against repetitions in a text that a search makes.

#include "fuselage/ops/search/repetition.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "fuselage/ops/evaluate.h"
#include "fuselage/ops/infer.h"
#include "ops/search/repeated_words.h"

namespace fuselage {
namespace {

/// Larger numbers have no exact float.
constexpr std::int64_t kMaxRowNumber = 1 << 24;

std::vector<Type> infer_row_number(const InferContext& in) {
  const auto op = in.as<op::RowNumber>();
  const auto [from, to] = path_ends(in, op.via);
  const Domain& target = in.graph().domain(to);
  if (target.kind != DomainKind::vocabulary || target.size > kMaxRowNumber)
    in.fail(fmt::format("its path leads to '{}', which is no vocabulary of at most {} entries",
                        target.name, kMaxRowNumber));
  if (op.unmapped < -1 || op.unmapped > kMaxRowNumber)
    in.fail(fmt::format("the number of unmapped rows must be from -1 to {}, not {}", kMaxRowNumber,
                        op.unmapped));
  return {{DType::f32, from, {1}}};
}

template <typename T>
void evaluate_row_number(EvalContext<T>& context) {
  std::vector<std::int32_t> rows;
  const auto op = context.node.template as<op::RowNumber>();
  context.rows.resolve(op.via, rows);
  std::ranges::transform(rows, context.results[0].data.begin(), [&op](std::int32_t row) {
    return row < 0 ? static_cast<T>(op.unmapped) : static_cast<T>(row);
  });
}

/// Ids, with -1 behind each sequence.
void expect_sequences(const InferContext& in, const Dims& forbidden) {
  std::int64_t before = -1;
  for (const std::int64_t id : forbidden) {
    if (id < -1) in.fail(fmt::format("a forbidden sequence has the id {}", id));
    if (id < 0 && before < 0) in.fail("a forbidden sequence has no ids");
    before = id;
  }
  if (before >= 0) in.fail("the last forbidden sequence has no -1 behind it");
}

/// Checks the text of each row; returns the domain of these rows.
DomainId text_rows(const InferContext& in) {
  const RowMap& group = grouping_map(in);
  const auto repeats = in.as<op::Repeats>();
  const auto [pairs, words] = path_ends(in, repeats.via);
  if (pairs != group.from || repeats.via.size() != 1)
    in.fail(
        fmt::format("`via` must be a map from rows of '{}'", in.graph().domain(group.from).name));
  if (in.operand(1).domain != words || expect_vector(in, 1) != 1)
    in.fail(fmt::format("its words must be one number for each row of '{}', not {}",
                        in.graph().domain(words).name, in.show(in.operand(1))));
  if (!(repeats.penalty > 0) || !std::isfinite(repeats.penalty))
    in.fail(fmt::format("its penalty must be above 0, not {}", repeats.penalty));
  if (repeats.ngram < 0)
    in.fail(fmt::format("n-grams have at least one word, and 0 stands for none, not {}",
                        repeats.ngram));
  expect_sequences(in, repeats.forbidden);
  return group.to;
}

std::vector<Type> infer_penalize_repeats(const InferContext& in) {
  const DomainId rows = text_rows(in);
  expect_vector(in, 0);
  if (in.operand(0).domain != rows)
    in.fail(fmt::format("its scores must have the rows of '{}', not {}",
                        in.graph().domain(rows).name, in.show(in.operand(0))));
  return {in.operand(0)};
}

std::vector<Type> infer_segment_penalize_repeats(const InferContext& in) {
  const DomainId rows = text_rows(in);
  const auto op = in.as<op::SegmentPenalizeRepeats>();
  const auto [pairs, row] = path_ends(in, op.row);
  const auto [also_pairs, words] = path_ends(in, op.listed);
  if (in.operand(0).domain != pairs || expect_vector(in, 0) != 1 || also_pairs != pairs)
    in.fail(
        fmt::format("its scores must be one number for each row of '{}', not {}, and `listed` "
                    "must start there",
                    in.graph().domain(pairs).name, in.show(in.operand(0))));
  if (row != rows || op.row.size() != 1)
    in.fail(fmt::format("`row` must be a map to rows of '{}'", in.graph().domain(rows).name));
  if (in.graph().domain(words).kind != DomainKind::vocabulary)
    in.fail(fmt::format("`listed` leads to '{}', which is no vocabulary",
                        in.graph().domain(words).name));
  return {in.operand(0)};
}

/// Calls f(row, word) for the words of each row's text, and then g(row, word) for the words that
/// would repeat an n-gram of it or complete a forbidden sequence.
template <typename T, typename F, typename G>
void for_words_of_rows(const EvalContext<T>& context, const F& f, const G& g) {
  const auto repeats = context.node.template as<op::Repeats>();
  const auto begin = context.rows.segments(repeats.to.front());
  const auto via = context.rows.index(repeats.via.front());
  for (std::size_t r = 0; r + 1 < begin.size(); ++r) {
    const std::int64_t count = begin[r + 1] - begin[r];
    const auto word = [&](std::int64_t i) {
      return static_cast<std::int64_t>(
          context.operands[1]->row(via[static_cast<std::size_t>(begin[r] + i)])[0]);
    };
    for (std::int64_t i = 0; i < count; ++i)
      if (word(i) >= 0) f(static_cast<std::int64_t>(r), word(i));
    const auto never = [&](std::int64_t w) { g(static_cast<std::int64_t>(r), w); };
    for_each_repeat(word, count, repeats.ngram, never);
    for_each_completed(word, count, repeats.forbidden, never);
  }
}

template <typename T>
void evaluate_penalize_repeats(EvalContext<T>& context) {
  const Array<T>& x = *context.operands[0];
  Array<T>& y = context.results[0];
  y.data = x.data;
  const auto penalty = static_cast<T>(context.node.template as<op::Repeats>().penalty);
  for_words_of_rows(
      context,
      [&](std::int64_t row, std::int64_t word) {
        if (word < x.cols) y.row(row)[word] = penalized(x.row(row)[word], penalty);
      },
      [&](std::int64_t row, std::int64_t word) {
        if (word < x.cols) y.row(row)[word] = -std::numeric_limits<T>::infinity();
      });
}

template <typename T>
void evaluate_segment_penalize_repeats(EvalContext<T>& context) {
  const Array<T>& x = *context.operands[0];
  Array<T>& y = context.results[0];
  y.data = x.data;
  const auto op = context.node.template as<op::SegmentPenalizeRepeats>();
  std::vector<std::int32_t> listed;
  context.rows.resolve(op.listed, listed);
  const auto begin = context.rows.segments(op.row.front());
  const auto pair_of = [&](std::int64_t row, std::int64_t word) -> std::int64_t {
    for (std::int64_t p = begin[static_cast<std::size_t>(row)];
         p < begin[static_cast<std::size_t>(row) + 1]; ++p)
      if (listed[static_cast<std::size_t>(p)] == word) return p;
    return -1;
  };
  for_words_of_rows(
      context,
      [&](std::int64_t row, std::int64_t word) {
        if (const std::int64_t p = pair_of(row, word); p >= 0)
          y.row(p)[0] = penalized(x.row(p)[0], static_cast<T>(op.penalty));
      },
      [&](std::int64_t row, std::int64_t word) {
        if (const std::int64_t p = pair_of(row, word); p >= 0)
          y.row(p)[0] = -std::numeric_limits<T>::infinity();
      });
}

}  // namespace

std::span<const OpDef> repetition_ops() {
  static const OpDef ops[] = {
      define<op::RowNumber>(
          {.summary = "y(r) = the number of the row via(r), of a word its id; `unmapped` if r is.",
           .infer = infer_row_number,
           .evaluate_f32 = evaluate_row_number<float>,
           .evaluate_f64 = evaluate_row_number<double>}),
      define<op::PenalizeRepeats>(
          {.summary =
               "The scores of words after a text, the ids words(via(p)) of the pairs p that `to` "
               "maps to a row: below 0 multiplied by the penalty, otherwise divided by it, for "
               "words of the text, and -inf for words that would repeat an n-gram of it or "
               "complete one "
               "of the forbidden sequences of ids, each with -1 behind it.",
           .operands = {{"scores"}, {.name = "words", .through = "via"}},
           .infer = infer_penalize_repeats,
           .evaluate_f32 = evaluate_penalize_repeats<float>,
           .evaluate_f64 = evaluate_penalize_repeats<double>}),
      define<op::SegmentPenalizeRepeats>(
          {.summary = "penalize_repeats for a score of each pair of a row and a listed word; the "
                      "words of a row ascend.",
           .operands = {{"scores"}, {.name = "words", .through = "via"}},
           .infer = infer_segment_penalize_repeats,
           .evaluate_f32 = evaluate_segment_penalize_repeats<float>,
           .evaluate_f64 = evaluate_segment_penalize_repeats<double>}),
  };
  return ops;
}

}  // namespace fuselage
