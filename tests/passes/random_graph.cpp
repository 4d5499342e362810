#include "tests/passes/random_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <random>

#include "fuselage/ops/loop.h"
#include "fuselage/ops/registry.h"
#include "fuselage/ops/sampling.h"
#include "fuselage/ops/search.h"
#include "fuselage/ops/shortlist.h"

namespace fuselage {
namespace {

using Attrs = AttrList;

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed), graph_("random") {}

  Graph generate() {
    declare();
    table_ = param(words_, 4);
    grow(words_, 1);
    start_source();
    scan(forward_);
    grow(source_, 4);
    scan(backward_);
    gru(graph_.add_scan("layer", source_, /*reversed=*/chance(2)));
    attend(source_, source_pairs_, source_);
    keep(sentence_,
         add("mean_rows", {pick(source_)}, {{"to", MapPath{graph_.find_map("src.sentence")}}}));
    static constexpr std::string_view kReductions[] = {"sum_rows", "max_rows",
                                                       "segment_log_sum_exp"};
    keep(sentence_,
         add(kReductions[random_() % std::size(kReductions)], {add("tanh", {pick(source_)})},
             {{"to", MapPath{graph_.find_map("src.sentence")}}}));
    grow(sentence_, 3);
    step();
    give_out();
    return std::move(graph_);
  }

 private:
  void declare() {
    words_ = graph_.add_vocabulary("words", 7);
    sentence_ = graph_.add_sentences("sentence");
    source_ = graph_.add_source("src", sentence_);
    source_word_ = graph_.add_word_map("src.word", source_, words_, /*partial=*/false);
    forward_ = graph_.add_scan("forward", source_, /*reversed=*/false);
    backward_ = graph_.add_scan("backward", source_, /*reversed=*/true);
    source_pairs_ = graph_.add_pairs("self", source_, source_, source_window());
    parent_ = graph_.add_parents("parent", sentence_);
    hypothesis_ = graph_.add_hypotheses("hyp", parent_);
    hypothesis_word_ = graph_.add_word_map("hyp.word", hypothesis_, words_, /*partial=*/true);
    prefix_ = graph_.add_prefix("prefix", hypothesis_);
    cross_pairs_ = graph_.add_pairs("cross", hypothesis_, source_);
    prefix_pairs_ = graph_.add_pairs("causal", hypothesis_, prefix_,
                                     chance(2) ? Window{} : Window{.first = -1});
    declare_positions();
    graph_.add_input("features", sentence_, {4});
    shortlist_ = graph_.add_shortlist("shortlist", sentence_);
    shortlist_word_ = graph_.add_word_map("shortlist.word", shortlist_, words_, /*partial=*/false);
    shortlist_pairs_ = graph_.add_pairs("candidates", hypothesis_, shortlist_);
  }

  Window source_window() {
    constexpr Window kWindows[] = {{}, {.last = 0}, {.first = -1, .last = 1}};
    return kWindows[random_() % std::size(kWindows)];
  }

  /// Maps that follow from positions.
  void declare_positions() {
    places_ = graph_.add_vocabulary("places", 3);
    source_next_ = graph_.add_neighbour_map("src.next", source_, 1);
    source_place_ = graph_.add_position_map("src.place", source_, places_, 1);
    hypothesis_before_ = graph_.add_neighbour_map("hyp.before", prefix_, -1);
    hypothesis_place_ = graph_.add_position_map("hyp.place", hypothesis_, places_);
    source_distance_ = graph_.add_distance_map("self.distance", source_pairs_, places_, {});
    prefix_distance_ =
        graph_.add_distance_map("causal.distance", prefix_pairs_, places_, {.causal = true});
  }

  // --- Parts of a model ---

  void start_source() {
    keep(source_, add("select_rows", {table_}, {{"via", MapPath{source_word_}}}));
    const ValueId position = add("position", {}, {{"domain", source_}});
    keep(source_, add("sinusoid", {position}, {{"dim", std::int64_t{4}}}));
    const ValueId number = add("cast", {position}, {{"to", DType::f32}});
    keep(source_, add("mul", {add("reshape", {number}, {{"dims", Dims{1}}}), constant(0.125, 1)}));
    keep(source_, select(param(places_, 4), {source_place_}));
    grow(source_, 2);
    keep(source_, select(pick(source_), {source_next_}));
    keep(source_, select(features(), {graph_.find_map("src.sentence")}));
    grow(source_, 3);
  }

  ValueId features() { return add("input", {}, {{"name", std::string("features")}}); }

  ValueId select(ValueId x, const MapPath& via) { return add("select_rows", {x}, {{"via", via}}); }

  void scan(DomainId domain) {
    const MapPath to_source{graph_.map_of(domain, MapKind::structural)};
    std::vector<ValueId> states;
    for (int i = 0; i < 2; ++i) {
      states.push_back(add("state", {vector(0.5, width(pick(source_)))}, {{"domain", domain}}));
      keep(domain, states.back());
    }
    for (int i = 0; i < 2; ++i)
      keep(domain, add("select_rows", {pick(source_)}, {{"via", to_source}}));
    grow(domain, 5);
    for (const ValueId state : states) add_next(domain, state);
    for (int i = 0; i < 2; ++i) keep(source_, add("collect", {pick(domain)}));
  }

  /// A loop that is a recurrent layer.
  void gru(DomainId domain) {
    const ValueId s = add("state", {vector(0, 2)}, {{"domain", domain}});
    const ValueId x = add("select_rows", {of_width(pick(source_), 4)},
                          {{"via", MapPath{graph_.map_of(domain, MapKind::structural)}}});
    const auto product = [&](ValueId of, std::int64_t columns) {
      return add("matmul", {of, param(graph_.none(), width(of), columns)});
    };
    const ValueId gates = add("sigmoid", {add("add", {product(x, 4), product(s, 4)})});
    const ValueId z = of_width(gates, 2);
    const ValueId r = add("slice", {gates}, {{"begin", std::int64_t{2}}, {"end", std::int64_t{4}}});
    const ValueId reset = add("mul", {r, product(s, 2)});
    const ValueId n = add("tanh", {add("add", {product(x, 2), reset})});
    const ValueId taken = add("mul", {add("sub", {vector(1, 2), z}), n});
    const ValueId h = add("add", {taken, add("mul", {z, s})});
    add_node(graph_, op::Next{}, {s, h});
    keep(source_, add("collect", {h}));
  }

  void step() {
    std::vector<ValueId> states;
    for (int i = 0; i < 3; ++i) {
      const ValueId init = chance(2) ? pick(sentence_) : vector(0, 4);
      states.push_back(add("state", {init}, {{"domain", parent_}}));
      keep(parent_, states.back());
    }
    grow(parent_, 3);
    const MapId to_parent = graph_.map_of(hypothesis_, MapKind::structural);
    const MapId to_sentence = graph_.map_of(parent_, MapKind::structural);
    for (int i = 0; i < 3; ++i)
      keep(hypothesis_, add("select_rows", {pick(parent_)}, {{"via", MapPath{to_parent}}}));
    const ValueId on_parents =
        add("select_rows", {pick(sentence_)}, {{"via", MapPath{to_sentence}}});
    keep(parent_, on_parents);
    keep(hypothesis_, add("select_rows", {on_parents}, {{"via", MapPath{to_parent}}}));
    keep(hypothesis_, add("select_rows", {table_, vector(chance(2) ? 0 : 0.25, 4)},
                          {{"via", MapPath{hypothesis_word_}}}));
    grow(hypothesis_, 5);
    attend(hypothesis_, cross_pairs_, source_);
    keep(hypothesis_, select(param(places_, 4), {hypothesis_place_}));
    for (int i = 0; i < 2; ++i)
      keep(prefix_, add("history", {pick(hypothesis_)}, {{"domain", prefix_}}));
    keep(hypothesis_, select(pick(prefix_), {hypothesis_before_}));
    attend(hypothesis_, prefix_pairs_, prefix_);
    grow(hypothesis_, 5);
    for (const ValueId state : states) add_next(hypothesis_, state);
  }

  /// Values of `right` mixed for each row of `left`, with weights out of both.
  void attend(DomainId left, DomainId pairs, DomainId right) {
    const MapPath to_left{graph_.map_of(pairs, MapKind::left)};
    const MapPath to_right{graph_.map_of(pairs, MapKind::right)};
    const ValueId query = of_width(pick(left), 4);
    const ValueId keys = of_width(pick(right), 4);
    const ValueId a = add("select_rows", {query}, {{"via", to_left}});
    const ValueId b = add("select_rows", {keys}, {{"via", to_right}});
    keep(pairs, a);
    keep(pairs, b);
    grow(pairs, 2);
    ValueId score = scores(a, b);
    if (pairs != cross_pairs_ && chance(2)) score = add("add", {score, bias(pairs, width(score))});
    const ValueId weights = add("segment_softmax", {score}, {{"to", to_left}});
    for (int i = 0; i < 2; ++i)
      keep(left, add("mix_rows", {weights, of_width(pick(right), 4)},
                     {{"to", to_left}, {"via", to_right}}));
    grow(left, 3);
  }

  /// A number for the distance of a pair.
  ValueId bias(DomainId pairs, std::int64_t heads) {
    return select(param(places_, heads),
                  {pairs == source_pairs_ ? source_distance_ : prefix_distance_});
  }

  ValueId scores(ValueId a, ValueId b) {
    if (chance(2))
      return add("matmul", {add("tanh", {add("add", {a, b})}), param(graph_.none(), 4, 1)});
    const std::int64_t heads = chance(2) ? 1 : 2;
    return add("head_dot", {a, b}, {{"heads", heads}, {"scale", 0.5}});
  }

  void add_next(DomainId domain, ValueId state) {
    const ValueId value = of_width(pick(domain), width(state));
    add_node(graph_, op::Next{}, {state, add("tanh", {value})});
  }

  void give_out() {
    int count = 0;
    for (const DomainId domain : {sentence_, source_, hypothesis_})
      for (int i = 0; i < 3; ++i) graph_.add_output(fmt::format("out{}", count++), pick(domain));
    graph_.add_output("best",
                      add("k_best", {of_width(pick(hypothesis_), 4)}, {{"k", std::int64_t{2}}}));
    ValueId scores = logits();
    if (chance(2)) scores = add("log_softmax", {scores});
    give_out_best("scores", "words", scores);
    graph_.add_output("total", add("log_sum_exp", {of_width(pick(hypothesis_), 4)}));
    give_out_best("ensemble_scores", "ensemble_words", add("add", {vote(), vote()}));
    give_out_shortlist();
    give_out_sample();
  }

  /// Random numbers of the hypotheses, and words drawn by them.
  void give_out_sample() {
    const MapPath to_sentence{graph_.map_of(hypothesis_, MapKind::structural),
                              graph_.map_of(parent_, MapKind::structural)};
    const ValueId stream = select(features(), to_sentence);
    const ValueId random = add("uniform", {stream, add("position", {}, {{"domain", hypothesis_}})});
    graph_.add_output("random", random);
    const NodeId best = add_node(graph_, op::KBest{.k = 3}, {logits()});
    give_out_drawn("best", add_node(graph_, op::Sample{.top_k = 2, .excluded = {1}},
                                    {graph_.result(best, 0), random, graph_.result(best, 1)}));
    give_out_drawn("all", add_node(graph_, op::Sample{.temperature = 0.5, .top_p = 0.8},
                                   {add("log_softmax", {logits()}), random}));
    const MapPath left{graph_.map_of(shortlist_pairs_, MapKind::left)};
    const MapPath words{graph_.map_of(shortlist_pairs_, MapKind::right), shortlist_word_};
    const ValueId listed = select(param(words_, 1), words);
    give_out_drawn("listed",
                   add_node(graph_, op::SegmentSample{.to = left, .words = words, .epsilon = 0.1},
                            {listed, random}));
  }

  void give_out_drawn(const std::string& from, NodeId drawn) {
    graph_.add_output("drawn_score_of_" + from, graph_.result(drawn, 0));
    graph_.add_output("drawn_of_" + from, graph_.result(drawn, 1));
  }

  /// The best words of shortlists. What their scores depend on cannot be looked up.
  void give_out_shortlist() {
    const MapPath left{graph_.map_of(shortlist_pairs_, MapKind::left)};
    const MapPath words{graph_.map_of(shortlist_pairs_, MapKind::right), shortlist_word_};
    const ValueId table = param(words_, 4);
    const ValueId last = add("select_rows", {table}, {{"via", MapPath{hypothesis_word_}}});
    const ValueId position = add("position", {}, {{"domain", hypothesis_}});
    const ValueId x = add("mul", {last, add("sinusoid", {position}, {{"dim", std::int64_t{4}}})});
    ValueId logits = add("matmul", {x, table}, {{"transposed", true}});
    if (chance(2)) logits = add("add", {logits, param(graph_.none(), 7)});
    ValueId scores = add("select_elements", {logits}, {{"row", left}, {"element", words}});
    if (!chance(4)) scores = add("segment_log_softmax", {scores}, {{"to", left}});
    const NodeId best =
        add_node(graph_, op::SegmentKBest{.k = 3, .to = left, .words = words}, {scores});
    graph_.add_output("shortlist_scores", graph_.result(best, 0));
    graph_.add_output("shortlist_words", graph_.result(best, 1));
    const ValueId product = add("matmul", {x, param(graph_.none(), 4, 7)});
    graph_.add_output("shortlist_logits",
                      add("select_elements", {product}, {{"row", left}, {"element", words}}));
    give_out_penalized();
  }

  /// Scores of words after the words of a hypothesis.
  void give_out_penalized() {
    const MapPath left{graph_.map_of(shortlist_pairs_, MapKind::left)};
    const MapPath words{graph_.map_of(shortlist_pairs_, MapKind::right), shortlist_word_};
    const ValueId scores =
        add("tanh", {add("matmul", {of_width(pick(hypothesis_), 4), param(graph_.none(), 4, 7)})});
    const ValueId listed = add("select_elements", {scores}, {{"row", left}, {"element", words}});
    const MapPath of_prefix{graph_.map_of(prefix_pairs_, MapKind::left)};
    const MapPath in_prefix{graph_.map_of(prefix_pairs_, MapKind::right)};
    const ValueId text =
        add("history", {add("row_number", {}, {{"via", MapPath{hypothesis_word_}}})},
            {{"domain", prefix_}});
    graph_.add_output(
        "penalized",
        add("penalize_repeats", {scores, text},
            {{"to", of_prefix}, {"via", in_prefix}, {"penalty", 1.5}, {"ngram", std::int64_t{2}}}));
    graph_.add_output("penalized_shortlist", add("segment_penalize_repeats", {listed, text},
                                                 {{"row", left},
                                                  {"listed", words},
                                                  {"to", of_prefix},
                                                  {"via", in_prefix},
                                                  {"penalty", 0.5}}));
  }

  ValueId logits() {
    const ValueId x = of_width(pick(hypothesis_), 4);
    const ValueId product = add("matmul", {x, param(graph_.none(), 4, 6)});
    return chance(2) ? add("add", {product, param(graph_.none(), 6)}) : product;
  }

  /// What a model of an ensemble says.
  ValueId vote() {
    const ValueId scores = add("log_softmax", {logits()});
    return chance(2) ? add("mul", {scores, constant(0.5, 1)}) : scores;
  }

  void give_out_best(std::string scores, std::string words, ValueId of) {
    const NodeId best = add_node(graph_, op::KBest{.k = 3}, {of});
    graph_.add_output(std::move(scores), graph_.result(best, 0));
    graph_.add_output(std::move(words), graph_.result(best, 1));
  }

  // --- Row-wise ops ---

  void grow(DomainId domain, int count) {
    for (int i = 0; i < count; ++i) keep(domain, random_op(domain));
  }

  ValueId random_op(DomainId domain) {
    const ValueId x = pick(domain);
    switch (random_() % 15) {
      case 0:
        return unary(x);
      case 1:
        return tame(x);
      case 2:
        return binary(domain, x);
      case 3:
        return matmul(x);
      case 4:
        return concat(domain, x);
      case 5:
        return cut(x);
      case 6:
        return add(chance(2) ? "softmax" : "log_softmax", {x});
      case 7:
        return norm(domain, x);
      case 8:
        return chance(3) ? rotary(domain, x) : head_dot(domain, x);
      case 9:
        return no_op(x);
      case 10:
        return choose(domain, x);
      case 11:
        return reduce(x);
      case 12:
        return reshape(x);
      case 13:
        return product(domain, x);
      default:
        return again(x);
    }
  }

  ValueId unary(ValueId x) {
    static constexpr std::string_view kNames[] = {"neg",  "sigmoid", "tanh", "relu", "swish",
                                                  "gelu", "abs",     "relu", "sin",  "cos"};
    return add(kNames[random_() % std::size(kNames)], {x});
  }

  /// A function that needs its argument to be in some range.
  ValueId tame(ValueId x) {
    const ValueId positive = add("abs", {x});
    switch (random_() % 3) {
      case 0:
        return add("exp", {add("tanh", {x})});
      case 1:
        return add("log", {add("add", {constant(1, 1), positive})});
      default:
        return add("sqrt", {positive});
    }
  }

  ValueId binary(DomainId domain, ValueId x) {
    ValueId y = pick(domain);
    if (chance(3)) y = constant(0.75, 1);
    if (chance(4)) y = param(graph_.none(), width(x));
    if (width(y) != 1) y = of_width(y, width(x));
    if (chance(5)) return add("div", {x, add("add", {add("abs", {y}), constant(1, 1)})});
    static constexpr std::string_view kNames[] = {"add", "sub", "mul", "max", "min"};
    const std::string_view name = kNames[random_() % std::size(kNames)];
    return chance(2) ? add(name, {x, y}) : add(name, {y, x});
  }

  /// A choice by a comparison. Its sides are far apart, since roundings may not decide it.
  ValueId choose(DomainId domain, ValueId x) {
    static constexpr std::string_view kNames[] = {"equal",      "not_equal", "less",
                                                  "less_equal", "greater",   "greater_equal"};
    const std::string_view name = kNames[random_() % std::size(kNames)];
    const ValueId positive = add("add", {constant(1, 1), add("abs", {x})});
    const ValueId negative = add("neg", {add("relu", {of_width(pick(domain), width(x))})});
    const ValueId condition =
        chance(2) ? add(name, {positive, negative}) : add(name, {negative, positive});
    if (chance(3)) return condition;
    return add("where", {condition, x, chance(2) ? negative : constant(0.5, 1)});
  }

  ValueId reduce(ValueId x) {
    static constexpr std::string_view kNames[] = {"reduce_sum", "reduce_max", "reduce_mean"};
    const std::string_view name = kNames[random_() % std::size(kNames)];
    if (width(x) % 2 != 0 || chance(2)) return add(name, {x});
    return add(name, {add("reshape", {x}, {{"dims", Dims{2, width(x) / 2}}})});
  }

  ValueId reshape(ValueId x) {
    const ValueId matrix = add("reshape", {x}, {{"dims", Dims{width(x), 1}}});
    return add("reshape", {matrix}, {{"dims", Dims{width(x)}}});
  }

  /// An outer product with another value or a parameter, and a vector of its elements.
  ValueId product(DomainId domain, ValueId x) {
    const auto as = [&](ValueId y, std::int64_t rows, std::int64_t cols) {
      return add("reshape", {y}, {{"dims", Dims{rows, cols}}});
    };
    ValueId y = chance(3) ? param(graph_.none(), 2) : of_width(pick(domain), 2);
    const ValueId narrow = width(x) > 6 ? of_width(x, 6) : x;
    const std::int64_t n = width(narrow);
    // Not so large that sums of products of products overflow.
    y = add("tanh", {y});
    const ValueId column = add("tanh", {as(narrow, n, 1)});
    ValueId matrix = chance(2) ? add("batch_matmul", {column, as(y, 1, 2)})
                               : add("batch_matmul", {column, as(y, 2, 1)}, {{"transposed", true}});
    if (chance(2)) matrix = add("add", {matrix, add("expand", {column}, {{"dims", Dims{n, 2}}})});
    if (chance(4)) return as_vector(add("concat", {matrix, column}));
    if (chance(2)) return as_vector(add("permute", {matrix}, {{"order", Dims{1, 0}}}));
    if (chance(2))
      matrix = add("slice", {matrix}, {{"begin", std::int64_t{1}}, {"end", std::int64_t{2}}});
    return as_vector(matrix);
  }

  ValueId as_vector(ValueId x) {
    return add("reshape", {x}, {{"dims", Dims{row_size(graph_.value(x).type)}}});
  }

  ValueId matmul(ValueId x) {
    if (width(x) == 4 && chance(3)) return add("matmul", {x, table_}, {{"transposed", true}});
    const std::int64_t out = chance(2) ? 4 : 6;
    if (chance(4)) return add("matmul", {x, rows_of_matrix(width(x), out)});
    const ValueId w =
        chance(6) ? stored_in_few_bits(width(x), out) : param(graph_.none(), width(x), out);
    return add("matmul", {x, w});
  }

  ValueId rows_of_matrix(std::int64_t rows, std::int64_t cols) {
    const std::int64_t begin = below(3);
    const ValueId all = param(graph_.none(), rows + begin + below(3), cols);
    return add("slice_leading", {all}, {{"begin", begin}, {"end", begin + rows}});
  }

  ValueId concat(DomainId domain, ValueId x) {
    std::vector<ValueId> parts{x};
    while (parts.size() < 3 && chance(2)) parts.push_back(pick(domain));
    const ValueId all = add("concat", parts);
    return width(all) > 24 ? of_width(all, 6) : all;
  }

  ValueId cut(ValueId x) {
    const std::int64_t begin = below(width(x));
    const std::int64_t end = begin + 1 + below(width(x) - begin);
    return add("slice", {x}, {{"begin", begin}, {"end", end}});
  }

  ValueId norm(DomainId domain, ValueId x) {
    // Often of a sum, since the two fuse.
    const ValueId normalized = chance(2) ? add("add", {x, of_width(pick(domain), width(x))}) : x;
    std::vector<ValueId> operands{normalized, param(graph_.none(), width(x))};
    if (chance(3)) return add("rms_norm", operands, {{"epsilon", 1e-3}});
    if (chance(2)) operands.push_back(param(graph_.none(), width(x)));
    return add("layer_norm", operands, {{"epsilon", 1e-3}});
  }

  ValueId head_dot(DomainId domain, ValueId x) {
    const ValueId y = of_width(pick(domain), width(x));
    const std::int64_t heads = width(x) % 2 == 0 ? 2 : 1;
    return add("head_dot", {x, y}, {{"heads", heads}, {"scale", 0.125}});
  }

  ValueId rotary(DomainId domain, ValueId x) {
    const std::int64_t heads = chance(2) ? 2 : 1;
    const ValueId angle =
        chance(3) ? param(graph_.none(), 2 / heads) : of_width(pick(domain), 2 / heads);
    return add("rotary", {of_width(x, 4), add("cos", {angle}), add("sin", {angle})},
               {{"heads", heads}});
  }

  /// What gives x again.
  ValueId no_op(ValueId x) {
    switch (random_() % 9) {
      case 0:
        return add("mul", {constant(1, 1), x});
      case 1:
        return add("div", {x, constant(1, 1)});
      case 2:
        return add("neg", {add("neg", {x})});
      case 3:
        return add("add", {x, constant(0, 1)});
      case 4:
        return add("sub", {x, constant(0, width(x))});
      case 5:
        return add("slice", {x}, {{"begin", std::int64_t{0}}, {"end", width(x)}});
      case 6: {
        const std::int64_t middle = below(width(x));
        if (middle == 0) return add("concat", {x});
        return add("concat", {add("slice", {x}, {{"begin", std::int64_t{0}}, {"end", middle}}),
                              add("slice", {x}, {{"begin", middle}, {"end", width(x)}})});
      }
      case 7:
        return add("mul", {x, add("exp", {add("tanh", {constant(0.1, 1)})})});
      default:
        return add("slice", {add("concat", {x, x})}, {{"begin", width(x)}, {"end", 2 * width(x)}});
    }
  }

  /// The same computation once more.
  ValueId again(ValueId x) {
    const Node node = graph_.producer(x);
    if (node.has(Trait::loop_state)) return add("tanh", {x});
    const std::uint32_t result = graph_.value(x).result;
    return graph_.result(graph_.add_node_with_attrs(*node.op, node.operands, node.attrs), result);
  }

  // --- Values ---

  ValueId add(std::string_view name, std::vector<ValueId> operands, const Attrs& attrs = {}) {
    return graph_.result(graph_.add_node(find_op(name), std::move(operands), attrs));
  }

  /// A matrix of which the columns are stored as quantized vectors, or one that is stored in bf16.
  ValueId stored_in_few_bits(std::int64_t rows, std::int64_t cols) {
    constexpr DType kStored[] = {DType::qint8, DType::qlog4, DType::bf16};
    const DType dtype = kStored[random_() % std::size(kStored)];
    if (dtype == DType::bf16)
      return add("cast", {param(graph_.none(), rows, cols, dtype)}, {{"to", DType::f32}});
    const ValueId vectors = param(graph_.none(), cols, rows, dtype);
    return add("transpose", {add("dequantize", {vectors})});
  }

  ValueId param(DomainId domain, std::int64_t rows, std::int64_t cols = 0,
                DType dtype = DType::f32) {
    Dims dims{rows};
    if (cols > 0) dims.push_back(cols);
    const std::string name = fmt::format("w{}", params_++);
    const ValueId id =
        add("param", {},
            {{"name", name}, {"domain", domain}, {"dims", std::move(dims)}, {"dtype", dtype}});
    graph_.set_value_name(id, name);
    return id;
  }

  ValueId vector(double number, std::int64_t size) {
    return add("constant", {}, {{"values", std::vector<double>{number}}, {"dims", Dims{size}}});
  }
  /// A vector, or sometimes a scalar in place of one of one element.
  ValueId constant(double number, std::int64_t size) {
    if (size > 1 || chance(2)) return vector(number, size);
    return add("constant", {}, {{"values", std::vector<double>{number}}});
  }

  /// x as it is, cut or repeated to a width.
  ValueId of_width(ValueId x, std::int64_t wanted) {
    while (width(x) < wanted) x = add("concat", {x, x});
    if (width(x) == wanted) return x;
    return add("slice", {x}, {{"begin", std::int64_t{0}}, {"end", wanted}});
  }

  std::int64_t width(ValueId x) const {
    return graph_.value(x).type.dims.empty() ? 1 : graph_.value(x).type.dims.back();
  }

  /// Lets later ops use a value; scalars would fit too few of them.
  void keep(DomainId domain, ValueId value) {
    if (graph_.value(value).type.dims.empty()) return;
    if (chance(3)) graph_.set_value_name(value, fmt::format("v{}", value.index));
    pools_[domain].push_back(value);
  }
  /// One of the values of a domain, often a late one.
  ValueId pick(DomainId domain) {
    const auto& pool = pools_[domain];
    if (pool.empty()) return table_;
    const auto size = static_cast<std::int64_t>(pool.size());
    const std::int64_t from = chance(2) ? std::max<std::int64_t>(0, size - 3) : 0;
    return pool[static_cast<std::size_t>(from + below(size - from))];
  }
  bool chance(std::uint64_t one_in) { return random_() % one_in == 0; }
  std::int64_t below(std::int64_t limit) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(limit));
  }

  std::mt19937_64 random_;
  Graph graph_;
  DomainId words_, places_, sentence_, source_, forward_, backward_, source_pairs_;
  DomainId parent_, hypothesis_, prefix_, cross_pairs_, prefix_pairs_;
  DomainId shortlist_, shortlist_pairs_;
  MapId source_word_, hypothesis_word_, shortlist_word_;
  MapId source_next_, source_place_, source_distance_;
  MapId hypothesis_before_, hypothesis_place_, prefix_distance_;
  ValueId table_;
  std::map<DomainId, std::vector<ValueId>> pools_;
  int params_ = 0;
};

}  // namespace

Graph random_graph(std::uint64_t seed) { return Generator(seed).generate(); }

}  // namespace fuselage
