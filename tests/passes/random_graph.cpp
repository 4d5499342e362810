#include "tests/passes/random_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <random>

#include "fuselage/ops/registry.h"
#include "fuselage/ops/search/k_best.h"
#include "fuselage/ops/search/sampling.h"
#include "fuselage/ops/search/shortlist.h"
#include "fuselage/ops/structure/loop.h"
#include "tests/passes/random_ops.h"

namespace fuselage {
namespace {

class Generator : RandomOps {
 public:
  explicit Generator(std::uint64_t seed) : RandomOps(seed) {}

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
    keep(sentence_, select(pick(source_), {source_last_}));
    keep(sentence_, select(pick(source_), {source_second_}));
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
    source_last_ = graph_.add_token_map("src.last", source_, -1);
    source_second_ = graph_.add_token_map("src.second", source_, 1);
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
    keep(hypothesis_, select(pick(source_), {to_parent, to_sentence, source_last_}));
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
    const ValueId x = add("add", {last, add("sinusoid", {position}, {{"dim", std::int64_t{4}}})});
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

  DomainId words_, places_, sentence_, source_, forward_, backward_, source_pairs_;
  DomainId parent_, hypothesis_, prefix_, cross_pairs_, prefix_pairs_;
  DomainId shortlist_, shortlist_pairs_;
  MapId source_word_, hypothesis_word_, shortlist_word_;
  MapId source_next_, source_last_, source_second_, source_place_, source_distance_;
  MapId hypothesis_before_, hypothesis_place_, prefix_distance_;
};

}  // namespace

Graph random_graph(std::uint64_t seed) { return Generator(seed).generate(); }

}  // namespace fuselage
