// Scores of shortlisted words: a row is a pair of a hypothesis and a word.

#include "fuselage/ops/search/shortlist.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "fuselage/ops/evaluate.h"
#include "fuselage/ops/infer.h"

namespace fuselage {
namespace {

std::vector<Type> infer_select_elements(const InferContext& in) {
  const std::int64_t width = expect_vector(in, 0);
  const auto paths = in.as<op::SelectElements>();
  const auto [from, to] = path_ends(in, paths.row);
  const auto [also_from, entries] = path_ends(in, paths.element);
  const Graph& graph = in.graph();
  if (in.operand(0).domain != to)
    in.fail(fmt::format("its path leads to rows of '{}', but the operand is {}",
                        graph.domain(to).name, in.show(in.operand(0))));
  if (from != also_from)
    in.fail(fmt::format("its paths start at rows of '{}' and '{}', not at the same",
                        graph.domain(from).name, graph.domain(also_from).name));
  if (graph.domain(entries).kind != DomainKind::vocabulary || graph.domain(entries).size != width)
    in.fail(fmt::format("'{}', where its path leads, has no entry for each element of {}",
                        graph.domain(entries).name, in.show(in.operand(0))));
  return {{DType::f32, from, {1}}};
}

Cost cost_select_elements(const InferContext&) { return {.bytes = 8}; }

template <typename T>
void evaluate_select_elements(EvalContext<T>& context) {
  std::vector<std::int32_t> rows, elements;
  const auto paths = context.node.template as<op::SelectElements>();
  context.rows.resolve(paths.row, rows);
  context.rows.resolve(paths.element, elements);
  Array<T>& out = context.results[0];
  for (std::int64_t r = 0; r < out.rows; ++r) {
    const std::int32_t row = rows[static_cast<std::size_t>(r)];
    const std::int32_t element = elements[static_cast<std::size_t>(r)];
    if (row >= 0 && element >= 0) out.row(r)[0] = context.operands[0]->row(row)[element];
  }
}

std::vector<Type> infer_segment_k_best(const InferContext& in) {
  const RowMap& map = grouping_map(in);
  const auto [from, to] = path_ends(in, in.as<op::SegmentKBest>().words);
  const Type& x = in.operand(0);
  if (x.domain != map.from || from != map.from || expect_vector(in, 0) != 1)
    in.fail(
        fmt::format("its operand must be one number for each row of '{}', and its path start "
                    "there; it is {}",
                    in.graph().domain(map.from).name, in.show(x)));
  if (to == in.none()) in.fail("its path leads to no rows");
  const auto k = in.as<op::SegmentKBest>().k;
  if (k <= 0) in.fail(fmt::format("it cannot take the {} best", k));
  return {{DType::f32, map.to, {k}}, {DType::i32, map.to, {k}}};
}

/// Writes the k largest elements of x [count] and their indexes; missing ones are -infinity and -1.
template <typename T>
void take_best(const T* x, std::int64_t count, std::int64_t k, T* values, T* places) {
  const auto key = [x](std::int64_t i) {
    return std::isnan(x[i]) ? -std::numeric_limits<T>::infinity() : x[i];
  };
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&key](std::int64_t a, std::int64_t b) { return key(a) > key(b); });
  std::fill_n(values, k, -std::numeric_limits<T>::infinity());
  std::fill_n(places, k, T{-1});
  for (std::int64_t i = 0; i < std::min(k, count); ++i) {
    values[i] = key(order[static_cast<std::size_t>(i)]);
    places[i] = static_cast<T>(order[static_cast<std::size_t>(i)]);
  }
}

template <typename T>
void evaluate_segment_k_best(EvalContext<T>& context) {
  const auto best = context.node.template as<op::SegmentKBest>();
  std::vector<std::int32_t> ids;
  context.rows.resolve(best.words, ids);
  const auto begin = context.rows.segments(best.to.front());
  const std::int64_t k = context.results[0].cols;
  for (std::size_t s = 0; s + 1 < begin.size(); ++s) {
    const auto row = static_cast<std::int64_t>(s);
    T* found = context.results[1].row(row);
    take_best(context.operands[0]->data.data() + begin[s], begin[s + 1] - begin[s], k,
              context.results[0].row(row), found);
    const std::int32_t* own = ids.data() + begin[s];
    for (std::int64_t i = 0; i < k; ++i)
      if (found[i] >= 0) found[i] = static_cast<T>(own[static_cast<std::int64_t>(found[i])]);
  }
}

}  // namespace

std::span<const OpDef> shortlist_ops() {
  static const OpDef ops[] = {
      define<op::SelectElements>({.summary = "y(r) = x(row(r))[element(r)].",
                                  .operands = {{"x"}},
                                  .infer = infer_select_elements,
                                  .cost = cost_select_elements,
                                  .evaluate_f32 = evaluate_select_elements<float>,
                                  .evaluate_f64 = evaluate_select_elements<double>}),
      define<op::SegmentKBest>(
          {.summary = "The k largest numbers of the rows that `to` maps to one row, and the images "
                      "of these rows under `words`; ties go to the lower row. Missing results are "
                      "-inf and -1.",
           .operands = {{"x"}},
           .infer = infer_segment_k_best,
           .evaluate_f32 = evaluate_segment_k_best<float>,
           .evaluate_f64 = evaluate_segment_k_best<double>}),
  };
  return ops;
}

}  // namespace fuselage
