#include "fuselage/graph/domain.h"

#include <algorithm>
#include <cmath>

#include "fuselage/graph/distance_table.h"
#include "fuselage/graph/row_table.h"
#include "fuselage/ops/structure/leaf.h"
#include "fuselage/ops/structure/loop.h"
#include "tests/graph/support.h"

namespace fuselage {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// One domain of each kind.
class Domains : public ::testing::Test {
 protected:
  Graph graph_;
  DomainId vocab_ = graph_.add_vocabulary("vocab", 7);
  DomainId sentence_ = graph_.add_sentences("sentence");
  DomainId source_ = graph_.add_source("source", sentence_);
  DomainId scan_ = graph_.add_scan("scan", source_, true);
  DomainId parent_ = graph_.add_parents("parent", sentence_);
  DomainId hyp_ = graph_.add_hypotheses("hyp", parent_);
  DomainId prefix_ = graph_.add_prefix("prefix", hyp_);
  DomainId pairs_ = graph_.add_pairs("pairs", hyp_, source_);

  std::vector<std::string> path(DomainId from, DomainId to) {
    const auto maps = graph_.structural_path(from, to);
    if (!maps) return {"none"};
    std::vector<std::string> names;
    for (const MapId id : *maps) names.push_back(graph_.map(id).name);
    return names;
  }
};

TEST_F(Domains, HaveKindAndBindingTime) {
  const auto expect = [this](DomainId id, const char* name, DomainKind kind, BindingTime binding) {
    EXPECT_EQ(graph_.domain(id).name, name);
    EXPECT_EQ(graph_.domain(id).kind, kind) << name;
    EXPECT_EQ(graph_.domain(id).binding, binding) << name;
    EXPECT_EQ(graph_.find_domain(name), id);
  };
  expect(graph_.none(), "none", DomainKind::none, BindingTime::load);
  expect(vocab_, "vocab", DomainKind::vocabulary, BindingTime::load);
  expect(sentence_, "sentence", DomainKind::sentence, BindingTime::source);
  expect(source_, "source", DomainKind::source, BindingTime::source);
  expect(scan_, "scan", DomainKind::scan, BindingTime::source);
  expect(parent_, "parent", DomainKind::parent, BindingTime::step);
  expect(hyp_, "hyp", DomainKind::hypothesis, BindingTime::step);
  expect(prefix_, "prefix", DomainKind::prefix, BindingTime::step);
  expect(pairs_, "pairs", DomainKind::pairs, BindingTime::step);
  EXPECT_EQ(graph_.domain(graph_.add_pairs("self", source_, source_)).binding, BindingTime::source);
  EXPECT_EQ(graph_.domain_count(), 10u);
  EXPECT_EQ(graph_.domain(vocab_).size, 7);
  EXPECT_TRUE(graph_.domain(scan_).reversed);
  EXPECT_EQ(graph_.domain(hyp_).of, parent_);
  EXPECT_EQ(graph_.domain(pairs_).left, hyp_);
  EXPECT_EQ(graph_.domain(pairs_).right, source_);
  EXPECT_FALSE(graph_.find_domain("other").valid());
}

TEST_F(Domains, DeclareTheirMaps) {
  const auto expect = [this](const char* name, MapKind kind, DomainId from, DomainId to) {
    const MapId id = graph_.find_map(name);
    ASSERT_TRUE(id.valid()) << name;
    EXPECT_EQ(graph_.map(id).kind, kind) << name;
    EXPECT_EQ(graph_.map(id).from, from) << name;
    EXPECT_EQ(graph_.map(id).to, to) << name;
    EXPECT_FALSE(graph_.map(id).partial) << name;
    EXPECT_EQ(graph_.map_of(from, kind), id) << name;
  };
  expect("source.sentence", MapKind::structural, source_, sentence_);
  expect("scan.source", MapKind::structural, scan_, source_);
  expect("parent.sentence", MapKind::structural, parent_, sentence_);
  expect("hyp.parent", MapKind::structural, hyp_, parent_);
  expect("hyp.newest", MapKind::newest, hyp_, prefix_);
  expect("pairs.left", MapKind::left, pairs_, hyp_);
  expect("pairs.right", MapKind::right, pairs_, source_);
  EXPECT_EQ(graph_.map_count(), 7u);
  EXPECT_FALSE(graph_.find_map("sentence.source").valid());
  EXPECT_THROW(graph_.map_of(sentence_, MapKind::structural), InternalError);
  EXPECT_THROW(graph_.map_of(hyp_, MapKind::left), InternalError);
}

TEST_F(Domains, WordMapsLeadFromTokensToVocabularies) {
  const MapId word = graph_.add_word_map("hyp.word", hyp_, vocab_, true);
  EXPECT_EQ(graph_.map(word).kind, MapKind::word);
  EXPECT_TRUE(graph_.map(word).partial);
  EXPECT_EQ(graph_.map(graph_.add_word_map("source.word", source_, vocab_, false)).partial, false);
  EXPECT_EQ(graph_.map(graph_.add_word_map("language", sentence_, vocab_, false)).from, sentence_);
  EXPECT_EQ(
      error_of([&] { graph_.add_word_map("w", parent_, vocab_, false); }),
      "map 'w' must start at a source, hypothesis, shortlist or sentence domain, but 'parent' "
      "is a parent domain");
  const DomainId shortlist = graph_.add_shortlist("shortlist", sentence_);
  EXPECT_EQ(graph_.map(graph_.add_word_map("word", shortlist, vocab_, false)).from, shortlist);
  EXPECT_THAT(error_of([&] { graph_.add_word_map("w", hyp_, source_, false); }),
              HasSubstr("'source' is a source domain"));
  EXPECT_EQ(error_of([&] { graph_.add_word_map("hyp.word", hyp_, vocab_, false); }),
            "map 'hyp.word' is declared twice");
}

TEST_F(Domains, NeighboursAreTokensOfOneText) {
  const RowMap& next = graph_.map(graph_.add_neighbour_map("next", source_, 1));
  EXPECT_TRUE(next.from == source_ && next.to == source_ && next.partial && next.offset == 1);
  const RowMap& before = graph_.map(graph_.add_neighbour_map("before", prefix_, -2));
  EXPECT_TRUE(before.from == hyp_ && before.to == prefix_ && before.partial);
  EXPECT_THAT(error_of([&] { graph_.add_neighbour_map("m", prefix_, 1); }),
              HasSubstr("no neighbour at the distance 1; use a negative one"));
  EXPECT_THAT(error_of([&] { graph_.add_neighbour_map("m", source_, 0); }),
              HasSubstr("no neighbour at the distance 0"));
  EXPECT_THAT(error_of([&] { graph_.add_neighbour_map("m", hyp_, -1); }),
              HasSubstr("'hyp' is a hypothesis domain"));
  EXPECT_THAT(error_of([&] { graph_.add_neighbour_map("m", source_, std::int64_t{1} << 40); }),
              HasSubstr("out of the range"));
}

TEST_F(Domains, ASentenceHasTokens) {
  const RowMap& last = graph_.map(graph_.add_token_map("last", source_, -1));
  EXPECT_EQ(last.kind, MapKind::token);
  EXPECT_TRUE(last.from == sentence_ && last.to == source_ && last.offset == -1);
  EXPECT_FALSE(last.partial);
  EXPECT_FALSE(graph_.map(graph_.add_token_map("first", source_, 0)).partial);
  EXPECT_TRUE(graph_.map(graph_.add_token_map("second", source_, 1)).partial);
  EXPECT_TRUE(graph_.map(graph_.add_token_map("last_but_one", source_, -2)).partial);
  EXPECT_THAT(error_of([&] { graph_.add_token_map("m", hyp_, -1); }),
              HasSubstr("map 'm': a sentence has tokens of a source domain, but 'hyp' is a "));
  EXPECT_THAT(error_of([&] { graph_.add_token_map("m", source_, std::int64_t{1} << 40); }),
              HasSubstr("out of the range"));
  EXPECT_THAT(error_of([&] { graph_.add_token_map("last", source_, 0); }),
              HasSubstr("map 'last' is declared twice"));
}

TEST_F(Domains, PositionsAndDistancesLeadToTables) {
  const RowMap& place = graph_.map(graph_.add_position_map("place", hyp_, vocab_, 2));
  EXPECT_TRUE(place.from == hyp_ && place.to == vocab_ && !place.partial && place.offset == 2);
  EXPECT_THAT(error_of([&] { graph_.add_position_map("m", sentence_, vocab_); }),
              HasSubstr("'sentence' is a sentence domain"));
  EXPECT_THAT(error_of([&] { graph_.add_position_map("m", source_, hyp_); }),
              HasSubstr("must be of a vocabulary domain, but 'hyp'"));
  const DomainId self = graph_.add_pairs("self", source_, source_);
  const DomainId cross = graph_.add_pairs("cross", hyp_, source_);
  const DomainId four = graph_.add_vocabulary("four", 4);
  const DomainId odd = graph_.add_vocabulary("odd", 5);
  const auto log = [](std::int64_t farthest, bool causal) {
    return DistanceBuckets{DistanceBuckets::Kind::logarithmic, farthest, causal};
  };
  EXPECT_EQ(graph_.map(graph_.add_distance_map("clipped", self, odd, {})).to, odd);
  EXPECT_EQ(graph_.map(graph_.add_distance_map("log", self, four, log(9, false))).to, four);
  EXPECT_THAT(error_of([&] { graph_.add_distance_map("m", cross, odd, {}); }),
              HasSubstr("'cross' has pairs of 'hyp' and 'source'"));
  EXPECT_THAT(error_of([&] { graph_.add_distance_map("m", self, four, {}); }),
              HasSubstr("'four' has 4 entries; distances -k to k need an odd number"));
  EXPECT_THAT(error_of([&] { graph_.add_distance_map("m", self, odd, log(9, false)); }),
              HasSubstr("distances in two directions need an even number"));
  EXPECT_THAT(error_of([&] { graph_.add_distance_map("m", self, odd, log(2, true)); }),
              HasSubstr("the maximum distance is 2, but has to be more than 2"));
}

TEST_F(Domains, WindowsNeedPositionsInOneText) {
  const DomainId near = graph_.add_pairs("near", source_, source_, {.first = -3, .last = 0});
  EXPECT_EQ(graph_.domain(near).window.first, -3);
  EXPECT_THAT(error_of([&] { graph_.add_pairs("p", hyp_, source_, {.last = 0}); }),
              HasSubstr("a window needs pairs of the tokens of one source"));
  EXPECT_THAT(error_of([&] { graph_.add_pairs("p", source_, source_, {.first = 1, .last = 2}); }),
              HasSubstr("contain the distance 0, but it is 1 … 2"));
  EXPECT_THAT(error_of([&] {
                graph_.add_pairs("p", source_, source_, {.first = -(std::int64_t{1} << 40)});
              }),
              HasSubstr("out of the range"));
}

TEST_F(Domains, InputsHaveRowsOfSourcesAndSentences) {
  graph_.add_input("frames", source_, {80});
  ASSERT_TRUE(graph_.find_input("frames").has_value());
  EXPECT_EQ(graph_.show(graph_.inputs()[0].type), "source f32[80]");
  EXPECT_EQ(error_of([&] { graph_.add_input("frames", source_, {80}); }),
            "input 'frames' is declared twice");
  EXPECT_THAT(error_of([&] { graph_.add_input("x", hyp_, {2}); }),
              HasSubstr("'hyp' is a hypothesis domain"));
  EXPECT_THAT(error_of([&] { graph_.add_input("x", source_, {0}); }),
              HasSubstr("dimensions [0] are out of range"));
}

/// Entries computed with the function of the published implementation (T5, 32 buckets, distance
/// 128) in double precision.
TEST(DistanceTable, HasTheBucketsOfT5) {
  const DistanceTable both = distance_table({DistanceBuckets::Kind::logarithmic, 128, false}, 32);
  const DistanceTable causal = distance_table({DistanceBuckets::Kind::logarithmic, 128, true}, 32);
  EXPECT_EQ(both[0], 0);
  EXPECT_EQ(both[-7], 7);
  EXPECT_EQ(both[7], 23);
  for (const std::int64_t distance : {-200, -127, -50, -20, -9, 8, 11, 12, 33, 90, 1000}) {
    const double steps = static_cast<double>(std::abs(distance));
    const auto bucket = [&](double count) {
      const double exact = count / 2;
      if (steps < exact) return steps;
      return std::min(count - 1, exact + std::floor(std::log(steps / exact) /
                                                    std::log(128 / exact) * (count - exact)));
    };
    EXPECT_EQ(both[distance], static_cast<int>(bucket(16)) + (distance > 0 ? 16 : 0)) << distance;
    EXPECT_EQ(causal[distance], distance > 0 ? 0 : static_cast<int>(bucket(32))) << distance;
  }
}

TEST_F(Domains, ShortlistsBelongToSentences) {
  const DomainId shortlist = graph_.add_shortlist("shortlist", sentence_);
  EXPECT_EQ(graph_.domain(shortlist).kind, DomainKind::shortlist);
  EXPECT_EQ(graph_.domain(shortlist).binding, BindingTime::source);
  EXPECT_EQ(graph_.map(graph_.find_map("shortlist.sentence")).to, sentence_);
  EXPECT_EQ(graph_.sentences_of(shortlist), sentence_);
  const DomainId pairs = graph_.add_pairs("words", hyp_, shortlist);
  EXPECT_EQ(graph_.domain(pairs).binding, BindingTime::step);
  EXPECT_EQ(error_of([&] { graph_.add_shortlist("x", source_); }),
            "domain 'x' must be of a sentence domain, but 'source' is a source domain");
}

TEST_F(Domains, OfTheWrongKindAreRefused) {
  EXPECT_EQ(error_of([&] { graph_.add_source("x", source_); }),
            "domain 'x' must be of a sentence domain, but 'source' is a source domain");
  EXPECT_EQ(error_of([&] { graph_.add_scan("x", sentence_, false); }),
            "domain 'x' must be of a source domain, but 'sentence' is a sentence domain");
  EXPECT_EQ(error_of([&] { graph_.add_parents("x", hyp_); }),
            "domain 'x' must be of a sentence domain, but 'hyp' is a hypothesis domain");
  EXPECT_EQ(error_of([&] { graph_.add_hypotheses("x", sentence_); }),
            "domain 'x' must be of a parent domain, but 'sentence' is a sentence domain");
  EXPECT_EQ(error_of([&] { graph_.add_prefix("x", parent_); }),
            "domain 'x' must be of a hypothesis domain, but 'parent' is a parent domain");
  EXPECT_THAT(error_of([&] { graph_.add_vocabulary("x", 0); }), HasSubstr("entries, not 0"));
  EXPECT_THAT(error_of([&] { graph_.add_vocabulary("x", std::int64_t{1} << 40); }),
              HasSubstr("1 to 2147483647 entries, not 1099511627776"));
  EXPECT_FALSE(graph_.find_domain("x").valid());
}

TEST_F(Domains, PairsStayWithinOneSentence) {
  const DomainId other = graph_.add_sentences("other");
  const DomainId context = graph_.add_source("context", other);
  EXPECT_EQ(error_of([&] { graph_.add_pairs("x", hyp_, context); }),
            "domain 'x': 'hyp' and 'context' do not belong to the same sentences");
  EXPECT_EQ(error_of([&] { graph_.add_pairs("x", vocab_, vocab_); }),
            "domain 'x': 'vocab' and 'vocab' do not belong to the same sentences");
  EXPECT_EQ(graph_.sentences_of(context), other);
}

TEST_F(Domains, NamesAreUniqueAndCanBeWritten) {
  EXPECT_EQ(error_of([&] { graph_.add_sentences("hyp"); }), "domain 'hyp' is declared twice");
  EXPECT_EQ(error_of([&] { graph_.add_sentences("none"); }), "domain 'none' is declared twice");
  EXPECT_THAT(error_of([&] { graph_.add_sentences("a b"); }), HasSubstr("domain name 'a b'"));
  EXPECT_THAT(error_of([&] { graph_.add_sentences(""); }), HasSubstr("domain name ''"));
  EXPECT_THAT(error_of([&] { graph_.add_word_map("a-b", hyp_, vocab_, false); }),
              HasSubstr("map name 'a-b'"));
  // "f32[4]" would otherwise be read as a type without rows.
  EXPECT_EQ(error_of([&] { graph_.add_sentences("f32"); }),
            "domain 'f32' has the name of an element type");
  EXPECT_THAT(error_of([&] { graph_.add_prefix("second", hyp_); }),
              HasSubstr("map 'hyp.newest' is declared twice"));
}

TEST_F(Domains, StructuralPathFollowsWhatRowsBelongTo) {
  EXPECT_THAT(path(hyp_, sentence_), ElementsAre("hyp.parent", "parent.sentence"));
  EXPECT_THAT(path(hyp_, parent_), ElementsAre("hyp.parent"));
  EXPECT_THAT(path(scan_, sentence_), ElementsAre("scan.source", "source.sentence"));
  EXPECT_THAT(path(source_, source_), ElementsAre());
  EXPECT_THAT(path(hyp_, source_), ElementsAre("none"));
  EXPECT_THAT(path(sentence_, source_), ElementsAre("none"));
  EXPECT_THAT(path(pairs_, source_), ElementsAre("none"));
  EXPECT_THAT(path(prefix_, hyp_), ElementsAre("none"));
  EXPECT_THAT(path(graph_.none(), sentence_), ElementsAre("none"));
}

TEST_F(Domains, BelongToSentences) {
  for (const DomainId id : {sentence_, source_, scan_, parent_, hyp_, prefix_, pairs_})
    EXPECT_EQ(graph_.sentences_of(id), sentence_) << graph_.domain(id).name;
  EXPECT_FALSE(graph_.sentences_of(vocab_).valid());
  EXPECT_FALSE(graph_.sentences_of(graph_.none()).valid());
}

TEST_F(Domains, GiveValuesTheirBindingTime) {
  const auto import = [this](DomainId domain) {
    return add_node(graph_, op::Import{.name = "x", .domain = domain, .dims = {2}});
  };
  const NodeId load = import(vocab_);
  EXPECT_EQ(graph_.binding(load), BindingTime::load);
  EXPECT_EQ(graph_.binding(graph_.result(import(source_))), BindingTime::source);
  const NodeId init = import(sentence_);
  const NodeId state = add_node(graph_, op::State{.domain = parent_}, {graph_.result(init)});
  EXPECT_EQ(graph_.binding(state), BindingTime::step);
  // A sink has no result: it runs when what it takes in is known.
  const NodeId next =
      add_node(graph_, op::Next{}, {graph_.result(state), graph_.result(import(hyp_))});
  EXPECT_EQ(graph_.binding(next), BindingTime::step);
}

TEST_F(Domains, NamesOfKindsAndTimes) {
  EXPECT_EQ(to_string(DomainKind::none), "none");
  EXPECT_EQ(to_string(DomainKind::vocabulary), "vocabulary");
  EXPECT_EQ(to_string(DomainKind::source), "source");
  EXPECT_EQ(to_string(DomainKind::shortlist), "shortlist");
  EXPECT_EQ(to_string(DomainKind::scan), "scan");
  EXPECT_EQ(to_string(DomainKind::pairs), "pairs");
  EXPECT_EQ(to_string(BindingTime::load), "load");
  EXPECT_EQ(to_string(BindingTime::step), "step");
  EXPECT_EQ(to_string(AttrKind::integer), "integer");
  EXPECT_EQ(to_string(AttrKind::dtype), "dtype");
}

TEST_F(Domains, RowTableFollowsComposedPaths) {
  const MapId word = graph_.add_word_map("source.word", source_, vocab_, true);
  RowTable rows(graph_);
  EXPECT_EQ(rows.rows(graph_.none()), 1);
  EXPECT_EQ(rows.rows(vocab_), 7);
  EXPECT_EQ(rows.rows(hyp_), 0);
  rows.map(graph_.find_map("pairs.right")).index = {2, 0, 1, 2};
  rows.map(word).index = {6, -1, 3};
  std::vector<std::int32_t> out;
  rows.resolve({graph_.find_map("pairs.right"), word}, out);
  EXPECT_THAT(out, ElementsAre(3, 6, -1, 3));
  rows.resolve({word}, out);
  EXPECT_THAT(out, ElementsAre(6, -1, 3));
  EXPECT_THROW(rows.resolve({}, out), InternalError);
}

}  // namespace
}  // namespace fuselage
