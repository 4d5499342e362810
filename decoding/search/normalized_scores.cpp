#include "decoding/search/normalized_scores.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "fuselage/base/error.h"
#include "fuselage/decoding/search_head.h"
#include "fuselage/ops/arithmetic/pointwise.h"
#include "fuselage/ops/arithmetic/softmax.h"
#include "fuselage/ops/precision/quantize.h"
#include "fuselage/ops/registry.h"
#include "fuselage/ops/search/shortlist.h"
#include "fuselage/ops/structure/leaf.h"
#include "fuselage/ops/structure/positions.h"
#include "fuselage/ops/structure/rows.h"
#include "fuselage/ops/structure/shape.h"

namespace fuselage {
namespace {

/// Added to the score of a word that cannot follow: its probability is 0, and sums stay finite.
constexpr double kMasked = -1e9;

ValueId add_constant(Graph& graph, double value, Dims dims) {
  return graph.result(
      add_node(graph, op::Constant{.values = {value}, .dims = std::move(dims)}, {}));
}

/// A low number for each of `words`, and 0 for others: runs of equal numbers, since words are few.
ValueId add_row(Graph& graph, std::vector<std::int32_t> words, std::int64_t count) {
  std::sort(words.begin(), words.end());
  std::vector<ValueId> runs;
  std::int64_t done = 0;
  for (const std::int32_t word : words) {
    if (word < done || word >= count) continue;
    if (word > done) runs.push_back(add_constant(graph, 0, {word - done}));
    runs.push_back(add_constant(graph, kMasked, {1}));
    done = word + 1;
  }
  if (done < count) runs.push_back(add_constant(graph, 0, {count - done}));
  return runs.size() == 1 ? runs[0] : graph.result(add_node(graph, op::Concat{}, runs));
}

ValueId sum(Graph& graph, ValueId a, ValueId b) {
  return graph.result(add_node(graph, op::Add{}, {a, b}));
}

/// `row` is added to the bias of the output layer, if there is one, so that it costs nothing.
ValueId add_to_all(Graph& graph, ValueId scores, ValueId row) {
  const Node node = graph.producer(scores);
  if (node.is<op::Add>())
    for (std::size_t i = 0; i < 2; ++i)
      if (graph.value(node.operands[i]).type == graph.value(row).type)
        return sum(graph, node.operands[1 - i], sum(graph, node.operands[i], row));
  return sum(graph, scores, row);
}

}  // namespace

ValueId masked(Graph& graph, const WordScores& scores, const WordMask& mask) {
  ValueId value = scores.value;
  if (!mask.suppressed.empty())
    value = add_to_all(graph, value, add_row(graph, mask.suppressed, scores.words));
  if (mask.min_length == 0) return value;
  const ValueId position =
      graph.result(add_node(graph, op::Position{.domain = scores.hypotheses}, {}));
  const ValueId length = graph.result(add_node(graph, op::Cast{.to = DType::f32}, {position}));
  const ValueId is_short =
      graph.result(add_node(graph, op::Less{}, {length, add_constant(graph, mask.min_length, {})}));
  const ValueId end = add_row(graph, {mask.end_id}, scores.words);
  return sum(graph, value, graph.result(add_node(graph, op::Mul{}, {is_short, end})));
}

NormalizedScores::NormalizedScores(Graph& graph, const ModelScores& given, LogitChanges changes)
    : graph_(graph),
      given_(given),
      hypotheses_(graph.value(given.value).type.domain),
      changes_(std::move(changes)) {}

WordScores NormalizedScores::as_scores(ValueId value) const {
  return {.value = value,
          .hypotheses = hypotheses_,
          .words = given_.words,
          .pairs = changes_.shortlist};
}

WordScores NormalizedScores::scores(bool wants_logits) {
  if (!given_.log_probs && wants_logits) return as_scores(logits(given_.value));
  const ValueId value =
      given_.log_probs ? log_probs(given_.value) : log_probs_of_logits(given_.value);
  if (value != given_.value) graph_.set_value_name(value, std::string(kLogProbs));
  return as_scores(value);
}

ValueId NormalizedScores::log_probs(ValueId all) {
  if (changes_.are_none()) return all;
  const auto [known, is_new] = done_.try_emplace(all.index);
  if (is_new) known->second = make_log_probs(all);
  return done_.at(all.index);
}

ValueId NormalizedScores::logits(ValueId all) {
  ValueId value = masked(graph_, {.value = all, .hypotheses = hypotheses_, .words = given_.words},
                         changes_.mask);
  if (changes_.shortlist)
    value = graph_.result(add_node(graph_,
                                   op::SelectElements{.row = changes_.shortlist->hypothesis,
                                                      .element = changes_.shortlist->word},
                                   {value}));
  return changes_.last == nullptr ? value : changes_.last(as_scores(value)).value;
}

ValueId NormalizedScores::log_probs_of_logits(ValueId all) {
  const ValueId value = logits(all);
  return graph_.result(
      changes_.shortlist
          ? add_node(graph_, op::SegmentLogSoftmax{.to = changes_.shortlist->hypothesis}, {value})
          : add_node(graph_, op::LogSoftmax{}, {value}));
}

ValueId NormalizedScores::make_log_probs(ValueId all) {
  const Node node = graph_.producer(all);
  if (node.is<op::LogSoftmax>()) return log_probs_of_logits(node.operands[0]);
  if (node.is<op::Add>())
    return graph_.result(
        add_node(graph_, op::Add{}, {log_probs(node.operands[0]), log_probs(node.operands[1])}));
  if (node.is<op::Mul>())
    for (std::size_t i = 0; i < 2; ++i)
      if (graph_.producer(node.operands[i]).is<op::Constant>() &&
          row_size(graph_.value(node.operands[i]).type) == 1)
        return graph_.result(
            add_node(graph_, op::Mul{}, {log_probs(node.operands[1 - i]), node.operands[i]}));
  throw Error(fmt::format(
      "graph '{}': its log-probabilities come from {}, and not from logits that could be "
      "normalized over {}",
      graph_.name(), graph_.describe(graph_.value(all).producer),
      changes_.shortlist
          ? "the words of a shortlist; leave the shortlist out"
          : "some of the words; leave renormalize out, and penalties with keep-beam"));
}

}  // namespace fuselage
