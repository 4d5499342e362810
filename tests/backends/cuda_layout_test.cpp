#include <gtest/gtest.h>

#include <set>

#include "backends/cuda/layout.h"
#include "support.h"

namespace fuselage::cuda {
namespace {

using fuselage::support::random_sentences;
using fuselage::support::toy_model;

TEST(CudaLayout, SizesAreFewAndCloseAbove) {
  for (const std::int64_t per_octave : {1, 2, 4}) {
    std::set<std::int64_t> sizes;
    for (std::int64_t count = 0; count <= 4096; ++count) {
      const std::int64_t size = round_size(count, per_octave);
      ASSERT_GE(size, count);
      ASSERT_LE((size - count) * per_octave, count) << count;
      ASSERT_EQ(round_size(size, per_octave), size);
      if (count > 256) sizes.insert(size);
    }
    EXPECT_EQ(sizes.size(), static_cast<std::size_t>(4 * per_octave));
  }
  EXPECT_EQ(round_size(9, 4), 10);
  EXPECT_EQ(round_size(33, 4), 40);
}

/// The layout of a batch with `width` hypotheses and `steps` steps a sentence.
Layout layout_for(const Graph& graph, const std::vector<WordIds>& sentences, std::int32_t width,
                  std::int32_t steps) {
  RowFrame frame(graph);
  const StepLimits limits{std::vector(sentences.size(), width),
                          std::vector(sentences.size(), steps)};
  frame.begin_batch(sentences);
  frame.reserve_steps(limits);
  return layout_of(frame, sentences.size(), limits);
}

std::int32_t rows(const Graph& graph, const Layout& layout, std::string_view domain) {
  return layout.rows[graph.find_domain(domain).index];
}

TEST(CudaLayout, HasTheBoundsOfABatch) {
  const Graph graph = toy_model(1).graph;
  const std::vector<WordIds> sentences{{1, 2, 0}, {3, 0}};
  const Layout layout = layout_for(graph, sentences, 3, 7);
  EXPECT_EQ(rows(graph, layout, "sentence"), 2);
  EXPECT_EQ(rows(graph, layout, "source"), 5);
  EXPECT_EQ(rows(graph, layout, "source_pairs"), 13);
  EXPECT_EQ(rows(graph, layout, "hyp"), 6);
  EXPECT_EQ(rows(graph, layout, "prefix"), 42);
  EXPECT_EQ(rows(graph, layout, "hyp_source"), 15);
  EXPECT_EQ(rows(graph, layout, "vocabulary"), support::ToyModel::kVocabulary);
  EXPECT_EQ(layout.sentence, 3);
  EXPECT_EQ(layout.steps, 7);
  EXPECT_EQ(max_hypotheses(graph, layout), 6);
}

TEST(CudaLayout, RoundsAllButWhatTheModelFixes) {
  const Graph graph = toy_model(1).graph;
  const Layout layout = rounded(graph, layout_for(graph, random_sentences(2, 9, 14), 5, 33), 2);
  EXPECT_EQ(rows(graph, layout, "hyp"), 48);
  EXPECT_EQ(rows(graph, layout, "prefix"), 1536);
  EXPECT_EQ(layout.steps, 48);
  EXPECT_EQ(rows(graph, layout, "vocabulary"), support::ToyModel::kVocabulary);
}

TEST(CudaLayout, HoldsWhatIsNotLargerInAnything) {
  const Graph graph = toy_model(1).graph;
  const Layout small = layout_for(graph, random_sentences(3, 4, 9), 3, 8);
  const Layout wide = layout_for(graph, random_sentences(3, 4, 9), 4, 6);
  EXPECT_TRUE(small.holds(small));
  EXPECT_FALSE(small.holds(wide));
  EXPECT_FALSE(wide.holds(small));
  EXPECT_FALSE(Layout().holds(small));
  const Layout both = joined(small, wide);
  EXPECT_TRUE(both.holds(small));
  EXPECT_TRUE(both.holds(wide));
  EXPECT_EQ(joined({}, small), small);
  EXPECT_EQ(common(both, small), small);
}

TEST(CudaLayout, BoundsOfAStepFollowItsHypotheses) {
  const Graph graph = toy_model(1).graph;
  const Layout layout = layout_for(graph, {{1, 2, 0}, {3, 0}}, 3, 7);
  const auto bounds = live_bounds(graph, layout, 2);
  const auto bound = [&](std::string_view name) { return bounds[graph.find_domain(name).index]; };
  EXPECT_EQ(bound("hyp"), 2);
  EXPECT_EQ(bound("parent"), 2);
  EXPECT_EQ(bound("prefix"), 2);
  EXPECT_EQ(bound("hyp_source"), 6);
  EXPECT_EQ(bound("hyp_prefix"), 14);
  EXPECT_EQ(bound("source"), 5);
  EXPECT_EQ(live_bounds(graph, layout, 100)[graph.find_domain("hyp").index], 6);
}

}  // namespace
}  // namespace fuselage::cuda
