// docs/generate.md: its code is the example file, and the example works.

#include <gmock/gmock.h>

#include <random>

#include "base/files/file.h"
#include "docs/examples/tiny_language_model.cpp"  // NOLINT: the example is a page, not a library
#include "tests/random_weights.h"

namespace fuselage {
namespace {

TEST(GeneratePage, ShowsTheExampleFile) {
  const std::string docs = std::string(FUSELAGE_SOURCE_DIR) + "/docs/";
  EXPECT_THAT(read_file(docs + "generate.md"),
              ::testing::HasSubstr("```cpp\n" +
                                   read_file(docs + "examples/tiny_language_model.cpp") + "```\n"));
}

TEST(GeneratePage, TheExampleContinuesAPrompt) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, 0.5f);
  const TensorMap weights =
      weights_for(tiny_language_model(1000, 16, 2), [&](const Type&, const Dims& shape) {
        return tensor_of(shape, [&] { return normal(random); });
      });
  const Generation generation =
      continue_text(weights, std::string(FUSELAGE_TEST_DATA) + "/vocab.yml", "▁Tom ▁is");
  EXPECT_EQ(generation.prompt_words, 2u);
  EXPECT_EQ(generation.continuations.size(), 4u);
  EXPECT_FALSE(generation.text().empty());
}

}  // namespace
}  // namespace fuselage
