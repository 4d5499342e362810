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

}  // namespace
}  // namespace fuselage
