// Batches with several texts, factors and numbers, on the CPU and by the reference interpreter.

#include "fuselage/backends/batch.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "fuselage/backends/row_frame.h"
#include "fuselage/base/error.h"
#include "fuselage/graph/text.h"
#include "fuselage/ops/registry.h"

namespace fuselage::batch_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Two texts, the first with a factor, frames for the second one, and a language a sentence.
constexpr std::string_view kDeclarations = R"(fuselage.graph 1
graph "texts"
domain sentence = sentence
domain a = source of sentence
domain b = source of sentence
domain words = vocabulary 5
domain cases = vocabulary 3
map a.word : a -> words
map a.case : a -> cases
map b.word : b -> words partial
map language : sentence -> words
input frames : b f32[2]
)";

const std::vector<std::int32_t> kLengthsA{2, 1}, kWordsA{4, 0, 3}, kCases{0, 2, 1}, kLengthsB{1, 3},
    kWordsB{1, -1, 2, 0}, kOne{1, 1}, kLanguages{2, 4};
const std::vector<float> kFrames{1, 2, 3, 4, 5, 6, 7, 8};

std::vector<BatchInput> inputs() {
  return {{.name = "a.word", .lengths = kLengthsA, .words = kWordsA},
          {.name = "a.case", .lengths = kLengthsA, .words = kCases},
          {.name = "b.word", .lengths = kLengthsB, .words = kWordsB},
          {.name = "frames", .lengths = kLengthsB, .numbers = kFrames},
          {.name = "language", .lengths = kOne, .words = kLanguages}};
}

TEST(Batch, HasRowsForEachText) {
  const Graph graph = parse_graph(kDeclarations, "test", all_ops());
  RowFrame frame(graph);
  const std::vector<BatchInput> all = inputs();
  frame.begin_batch({.inputs = all});
  const RowTable& table = frame.table();
  EXPECT_EQ(table.rows(graph.find_domain("sentence")), 2);
  EXPECT_EQ(table.rows(graph.find_domain("a")), 3);
  EXPECT_EQ(table.rows(graph.find_domain("b")), 4);
  EXPECT_THAT(table.index(graph.find_map("a.case")), ElementsAre(0, 2, 1));
  EXPECT_THAT(table.index(graph.find_map("b.word")), ElementsAre(1, -1, 2, 0));
  EXPECT_THAT(table.index(graph.find_map("b.sentence")), ElementsAre(0, 1, 1, 1));
  EXPECT_THAT(table.index(graph.find_map("language")), ElementsAre(2, 4));
  EXPECT_THAT(table.input(0), ::testing::ElementsAreArray(kFrames));
}

TEST(Batch, RefusesInputsThatDoNotFit) {
  const Graph graph = parse_graph(kDeclarations, "test", all_ops());
  const auto message = [&graph](std::size_t at, const BatchInput& input) -> std::string {
    std::vector<BatchInput> all = inputs();
    all[at] = input;
    RowFrame frame(graph);
    try {
      frame.begin_batch({.inputs = all});
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const std::vector<std::int32_t> three{1, 1, 1}, none{2, 0}, other{1, 2};
  EXPECT_THAT(message(1, {.name = "a.cases", .lengths = kLengthsA, .words = kCases}),
              HasSubstr("has no input 'a.cases'; did you mean 'a.case'?"));
  EXPECT_THAT(message(1, {.name = "b", .lengths = kLengthsB}),
              HasSubstr("needs the words of map 'a.case'"));
  EXPECT_THAT(message(3, {.name = "b", .lengths = kLengthsB}),
              HasSubstr("needs the input 'frames'"));
  EXPECT_THAT(message(1, {.name = "a.case", .lengths = three, .words = kCases}),
              HasSubstr("input 'a.case' has 3 sentences, but the batch has 2"));
  EXPECT_THAT(message(1, {.name = "a.case", .lengths = none, .words = kCases}),
              HasSubstr("input 'a.case' has 0 rows for sentence 2"));
  EXPECT_THAT(message(1, {.name = "a.case", .lengths = other, .words = kCases}),
              HasSubstr("sentence 1 has 1 rows in input 'a.case', but 2 in 'a.word'"));
  EXPECT_THAT(message(1, {.name = "a.case", .lengths = kLengthsA, .words = kWordsB}),
              HasSubstr("input 'a.case' has 4 words, but its lengths add up to 3"));
  EXPECT_THAT(message(1, {.name = "a.case", .lengths = kLengthsA, .words = kWordsA}),
              HasSubstr("word id 4 is not in the model's vocabulary 'cases' of 3 entries"));
  EXPECT_THAT(
      message(3, {.name = "frames", .lengths = kLengthsB, .numbers = std::span(kFrames).first(7)}),
      HasSubstr("input 'frames' has 7 numbers, 2 a row, but its lengths add up to 8"));
  EXPECT_THAT(message(4, {.name = "language", .lengths = kLengthsA, .words = kCases}),
              HasSubstr("has 2 rows for sentence 1, but 'sentence' has one a sentence"));
}

/// The maps that follow from positions, each with a table of its own numbers.
constexpr std::string_view kPositions = R"(fuselage.graph 1
graph "positions"
domain sentence = sentence
domain src = source of sentence
domain words = vocabulary 9
domain places = vocabulary 3
domain five = vocabulary 5
domain parent = parent of sentence
domain hyp = hypothesis of parent
domain prefix = prefix of hyp
domain near = pairs of src, src within -1 0
domain recent = pairs of hyp, prefix within -1 inf
map src.word : src -> words
map src.next : src -> src neighbour 1
map src.second : src -> src neighbour -2
map src.first : sentence -> src token 0
map src.last : sentence -> src token -1
map src.third : sentence -> src token 2
map src.third_last : sentence -> src token -3
map src.place : src -> places position -1
map near.bucket : near -> five distance clipped
map hyp.word : hyp -> words partial
map hyp.before : hyp -> prefix neighbour -1
map hyp.place : hyp -> places position
map recent.bucket : recent -> five distance clipped causal
)";

TEST(Batch, MapsFollowFromPositions) {
  const Graph graph = parse_graph(kPositions, "test", all_ops());
  RowFrame frame(graph);
  frame.begin_batch(std::vector<WordIds>{{3, 1, 0}, {5, 0}});
  const auto index = [&](std::string_view map) { return frame.table().index(graph.find_map(map)); };
  EXPECT_THAT(index("src.next"), ElementsAre(1, 2, -1, 4, -1));
  EXPECT_THAT(index("src.second"), ElementsAre(-1, -1, 0, -1, -1));
  EXPECT_THAT(index("src.first"), ElementsAre(0, 3));
  EXPECT_THAT(index("src.last"), ElementsAre(2, 4));
  EXPECT_THAT(index("src.third"), ElementsAre(2, -1));
  EXPECT_THAT(index("src.third_last"), ElementsAre(0, -1));
  EXPECT_THAT(index("src.place"), ElementsAre(0, 0, 1, 0, 0));
  EXPECT_THAT(index("near.left"), ElementsAre(0, 1, 1, 2, 2, 3, 4, 4));
  EXPECT_THAT(index("near.right"), ElementsAre(0, 0, 1, 1, 2, 3, 3, 4));
  EXPECT_THAT(index("near.bucket"), ElementsAre(2, 1, 2, 1, 2, 2, 1, 2));

  frame.reserve_steps({{2, 1}, {4, 4}});
  EXPECT_EQ(frame.max_rows(graph.find_domain("recent")), 6);
  const std::vector<std::int32_t> none{-1, -1}, both{0, 1}, zeros{0, 0};
  frame.begin_step({none, both, both, none, zeros});
  EXPECT_THAT(index("hyp.before"), ElementsAre(-1, -1));
  EXPECT_THAT(index("hyp.place"), ElementsAre(0, 0));
  // Both hypotheses of the first sentence have the first row as parent.
  const std::vector<std::int32_t> words{1, 2, 3}, ones{1, 1, 1}, children{0, 0, 1};
  frame.begin_step({both, both, children, words, ones});
  EXPECT_THAT(index("hyp.before"), ElementsAre(0, 0, 1));
  EXPECT_THAT(index("hyp.place"), ElementsAre(1, 1, 1));
  const std::vector<std::int32_t> last{1, 2}, twos{2, 2}, rows{4, 4}, threes{3, 3}, next{0, 1};
  frame.begin_step({last, both, both, rows, twos});
  EXPECT_THAT(index("hyp.before"), ElementsAre(3, 4));
  EXPECT_THAT(index("recent.right"), ElementsAre(3, 5, 4, 6));
  EXPECT_THAT(index("recent.bucket"), ElementsAre(1, 0, 1, 0));
  frame.begin_step({next, both, both, rows, threes});
  EXPECT_THAT(index("hyp.place"), ElementsAre(2, 2));
  EXPECT_THAT(index("recent.left"), ElementsAre(0, 0, 1, 1));
}

}  // namespace
}  // namespace fuselage::batch_test
