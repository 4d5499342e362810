#include "fuselage/backends/row_frame.h"

#include <gmock/gmock.h>

namespace fuselage {
namespace {

using ::testing::ElementsAre;

TEST(RowFrame, KeepsSeveralPrefixDomainsAlike) {
  Graph graph("two decoders");
  const DomainId sentences = graph.add_sentences("sentences");
  std::vector<MapId> ancestors;
  for (const char* name : {"a", "b"}) {
    const DomainId parents = graph.add_parents(std::string("parents_") + name, sentences);
    const DomainId hypotheses = graph.add_hypotheses(std::string("hypotheses_") + name, parents);
    const DomainId prefix = graph.add_prefix(std::string("prefix_") + name, hypotheses);
    const DomainId pairs = graph.add_pairs(std::string("pairs_") + name, hypotheses, prefix);
    ancestors.push_back(graph.map_of(pairs, MapKind::right));
  }
  RowFrame frame(graph);
  frame.begin_batch(std::vector<WordIds>{{3, 0}});
  frame.reserve_steps({{2}, {3}});
  const std::vector<std::int32_t> none{-1}, zero{0}, both{0, 1}, zeros{0, 0}, ones{1, 1},
      twos{2, 2}, crossed{1, 0};
  frame.begin_step({none, zero, zero, none, zero});
  frame.begin_step({zero, zero, zeros, both, ones});
  frame.begin_step({crossed, zeros, both, both, twos});
  // The first word is row 0, those of the second step are rows 1 and 2.
  for (const MapId map : ancestors)
    EXPECT_THAT(frame.table().index(map), ElementsAre(0, 2, 3, 0, 1, 4));
}

TEST(RowFrame, GivesRowsToSentencesThatComeAndGo) {
  Graph graph("attention");
  const DomainId sentences = graph.add_sentences("sentences");
  const DomainId source = graph.add_source("source", sentences);
  const DomainId parents = graph.add_parents("parents", sentences);
  const DomainId hypotheses = graph.add_hypotheses("hypotheses", parents);
  const DomainId prefix = graph.add_prefix("prefix", hypotheses);
  const DomainId to_source = graph.add_pairs("to_source", hypotheses, source);
  const DomainId to_prefix = graph.add_pairs("to_prefix", hypotheses, prefix);
  const auto source_rows = [&](const RowFrame& frame) {
    return frame.table().index(graph.map_of(to_source, MapKind::right));
  };
  const auto prefix_rows = [&](const RowFrame& frame) {
    return frame.table().index(graph.map_of(to_prefix, MapKind::right));
  };
  RowFrame frame(graph), arriving(graph);
  // Rows 0 to 3 of the prefix are those of a step; words have rows 4 to 9.
  frame.open({.sentences = 2, .hypotheses = 2, .source_rows = 48, .words = 6});
  const std::vector<std::int32_t> none{-1}, zero{0}, one{1}, zeros{0, 0}, both{0, 1}, ones{1, 1},
      first_and_new{0, -1}, second_and_first{1, 0}, places{0, 1};
  arriving.begin_batch(std::vector<WordIds>{{3, 4, 0}});
  frame.admit(arriving, zero);
  frame.begin_step({none, zero, zero, none, zero});
  EXPECT_THAT(source_rows(frame), ElementsAre(0, 1, 2));
  EXPECT_THAT(prefix_rows(frame), ElementsAre(4));
  EXPECT_THAT(frame.newest(), ElementsAre(4));
  EXPECT_EQ(frame.table().first_new(prefix), 0);
  // Another sentence joins the second step: its tokens are in a page of their own.
  arriving.begin_batch(std::vector<WordIds>{{5, 0}});
  frame.admit(arriving, one);
  EXPECT_THAT(frame.placed(source), ElementsAre(16, 17));
  frame.begin_step({first_and_new, places, both, both, second_and_first});
  EXPECT_THAT(source_rows(frame), ElementsAre(0, 1, 2, 16, 17));
  EXPECT_THAT(prefix_rows(frame), ElementsAre(4, 5, 6));
  // The first one goes; a third one has its place and its rows.
  frame.release(0);
  arriving.begin_batch(std::vector<WordIds>{WordIds(18, 7)});
  frame.admit(arriving, zero);
  EXPECT_EQ(frame.placed(source).front(), 0);
  EXPECT_EQ(frame.placed(source).back(), 33);
  frame.begin_step({one, one, zeros, both, ones});
  EXPECT_THAT(source_rows(frame), ElementsAre(16, 17, 16, 17));
  EXPECT_THAT(prefix_rows(frame), ElementsAre(6, 5, 6, 4));
}

}  // namespace
}  // namespace fuselage
