// The techniques of Devlin 2017 one after the other, as bench/devlin_bench.cpp measures them: on
// the bundled model, with products in float32, none of them changes a word.

#include <gtest/gtest.h>

#include "fuselage/decoding/translator.h"
#include "fuselage/models/load_model.h"
#include "tests/decoding/support.h"

namespace fuselage {
namespace {

std::vector<std::string> texts(const std::string& passes, int beam) {
  const std::vector<std::string> lines = {
      "Where is the nearest station?",
      "I don't know whether he will come, but if he does, I will ask him about the two.",
      "Yes.",
      "She has been living in a small house by the sea for more than twenty years.",
      "The café opens at 9:30 – doesn't it?",
      "Tom told me that he wanted to buy a new car before the end of the year.",
      "If it rains tomorrow, we will stay at home and read a book.",
      "Nobody believed the story that the old man told his grandchildren.",
      "How much did you pay for the ticket to Berlin?",
      "My sister works in a hospital and my brother studies at the university."};
  const TranslatorOptions options{.beam_size = beam,
                                  .normalize = 0.6f,
                                  .max_length_factor = 3,
                                  .compile = {.passes = passes, .precision = Precision::fp32}};
  const Model model = load_model(std::string(FUSELAGE_SOURCE_DIR) + "/models/en-de");
  std::vector<std::string> texts;
  for (const Translation& translation : Translator(model, options).translate(lines))
    texts.push_back(translation.n_best.front().text);
  return texts;
}

class Ladder : public ::testing::TestWithParam<int> {};

TEST_P(Ladder, GivesTheSameWordsOnEveryRung) {
  const std::string fusions =
      ",-merge_products,-fuse_output,-fuse_attention,-fuse_norm,-fuse_pointwise,-fuse_linear";
  const std::vector<std::string> want = texts("none", GetParam());
  ASSERT_FALSE(want.front().empty()) << "nothing was translated";
  for (const std::string& passes :
       {"all,-split_products,-embeddings,-attention,-merge_states" + fusions,
        "all,-attention,-merge_states" + fusions, "all,-merge_states" + fusions, "all" + fusions,
        std::string("all")})
    EXPECT_EQ(texts(passes, GetParam()), want) << passes;
}

INSTANTIATE_TEST_SUITE_P(Beams, Ladder, ::testing::Values(1, 6));

}  // namespace
}  // namespace fuselage
