// docs/cpp-api.md: its code is the example files, and the examples work.

#include <gmock/gmock.h>

#include <filesystem>
#include <random>

#include "base/files/file.h"
#include "docs/examples/own_model.cpp"  // NOLINT: the example is a page, not a library
#include "tests/random_weights.h"
#include "tests/temp_path.h"

namespace fuselage {
namespace {

TEST(CppApi, ThePageShowsTheExampleFiles) {
  const std::string docs = std::string(FUSELAGE_SOURCE_DIR) + "/docs/";
  for (const char* name : {"translate.cpp", "queue.cpp", "own_model.cpp"})
    EXPECT_THAT(read_file(docs + "cpp-api.md"),
                ::testing::HasSubstr("```cpp\n" + read_file(docs + "examples/" + name) + "```\n"));
}

TEST(CppApi, TheExampleTranslatesWithItsOwnGraph) {
  const std::string folder = temp_path("own_model");
  std::filesystem::create_directories(folder);
  std::filesystem::copy_file(std::string(FUSELAGE_TEST_DATA) + "/vocab.yml", folder + "/vocab.yml",
                             std::filesystem::copy_options::overwrite_existing);
  std::mt19937 random(1);
  std::normal_distribution<float> normal(0, 0.5f);
  const TensorMap weights =
      weights_for(tiny_translator(1000, 16), [&](const Type&, const Dims& shape) {
        return tensor_of(shape, [&] { return normal(random); });
      });
  write_safetensors(folder + "/weights.safetensors", weights, {});
  const Translation translation = translate_with_tiny_model(folder, "▁Tom ▁is");
  EXPECT_EQ(translation.source_words, 3u);
  EXPECT_EQ(translation.n_best.size(), 4u);
  EXPECT_FALSE(translation.text().empty());
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace fuselage
