#include "fuselage/graph/domain.h"

#include "fuselage/graph/row_table.h"
#include "fuselage/ops/leaf.h"
#include "fuselage/ops/loop.h"
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
  EXPECT_EQ(error_of([&] { graph_.add_word_map("w", sentence_, vocab_, false); }),
            "map 'w' must start at a source, hypothesis or shortlist domain, but 'sentence' is a "
            "sentence "
            "domain");
  const DomainId shortlist = graph_.add_shortlist("shortlist", sentence_);
  EXPECT_EQ(graph_.map(graph_.add_word_map("word", shortlist, vocab_, false)).from, shortlist);
  EXPECT_THAT(error_of([&] { graph_.add_word_map("w", hyp_, source_, false); }),
              HasSubstr("'source' is a source domain"));
  EXPECT_EQ(error_of([&] { graph_.add_word_map("hyp.word", hyp_, vocab_, false); }),
            "map 'hyp.word' is declared twice");
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
