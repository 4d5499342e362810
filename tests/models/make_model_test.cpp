#include "fuselage/models/make_model.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "base/files/file.h"
#include "fuselage/base/error.h"
#include "fuselage/models/bundled_model.h"
#include "fuselage/models/load_model.h"
#include "fuselage/ops/builder.h"
#include "tests/random_weights.h"
#include "tests/temp_path.h"

namespace fuselage::make_model_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// A model that ranks the words by the last word.
Graph last_word_model(const char* output) {
  Builder b("last-word");
  Graph& g = b.graph();
  const DomainId vocabulary = g.add_vocabulary("vocabulary", 5);
  const DomainId sentence = g.add_sentences("sentence");
  g.add_source("source", sentence);
  const DomainId parent = g.add_parents("parent", sentence);
  const DomainId hyp = g.add_hypotheses("hyp", parent);
  const MapId word = g.add_word_map("hyp.word", hyp, vocabulary, /*partial=*/true);
  const Expr embedding = b.param("E", {3}, vocabulary);
  b.output(output, dot_transposed(select_rows(embedding, {word}), embedding));
  return b.take();
}

TensorMap weights(const std::string& name = "E", std::int64_t rows = 5) {
  return {{name, Tensor(DType::f32, {rows, 3})}};
}

template <typename Matcher>
void expect_refused(const Graph& graph, const TensorMap& given, Matcher message) {
  EXPECT_THAT([&] { make_model(graph, given); }, ThrowsMessage<Error>(message));
}

TEST(MakeModel, TakesAGraphItsWeightsAndVocabularies) {
  const Graph graph = last_word_model("logits");
  const Model model = make_model(graph, weights(), {"v.spm"});
  EXPECT_THAT(model.vocabularies, ElementsAre("v.spm", "v.spm"));
  EXPECT_EQ(model.weights.size(), 1u);
  EXPECT_EQ(model.decode, DecodeDefaults{});
  EXPECT_THAT(make_model(graph, weights(), {"s", "t"}).vocabularies, ElementsAre("s", "t"));
  EXPECT_TRUE(make_model(graph, weights()).vocabularies.empty());
  const TensorMap halves = {{"E", weights().at("E").to_f16()}};
  EXPECT_EQ(make_model(graph, halves).weights.at("E").dtype(), DType::f32);
}

TEST(MakeModel, RefusesWeightsThatAreNotTheParameters) {
  const Graph graph = last_word_model("logits");
  expect_refused(graph, weights("Emb"),
                 "weights of graph 'last-word': weight 'E', a parameter of graph 'last-word', is "
                 "missing");
  expect_refused(graph, weights("E", 4),
                 HasSubstr("weight 'E' has shape [4, 3], but graph "
                           "'last-word' declares [5, 3]"));
  expect_refused(graph, {{"E", Tensor(DType::i32, {5, 3})}},
                 HasSubstr("weight 'E' is i32, but the graph declares f32"));
  TensorMap more = weights();
  more.emplace("F", Tensor(DType::f32, {1}));
  expect_refused(graph, more, HasSubstr("1 weight is no parameter of graph 'last-word': F"));
  TensorMap broken = weights();
  broken.at("E").mutable_data<float>()[7] = std::nanf("");
  expect_refused(graph, broken, HasSubstr("'last-word'"));
}

TEST(MakeModel, RefusesWhatCannotTranslate) {
  expect_refused(last_word_model("scores"), weights(), HasSubstr("no output 'logits'"));
}

TEST(BundledModel, IsFoundWhereTheEnvironmentSays) {
  EXPECT_EQ(find_bundled_model(), std::string(FUSELAGE_SOURCE_DIR) + "/models/en-de");
  const std::string models = std::getenv("FUSELAGE_MODELS");
  const std::string folder = temp_path("bundled");
  ::setenv("FUSELAGE_MODELS", folder.c_str(), 1);
  EXPECT_THAT([] { find_bundled_model(); },
              ThrowsMessage<Error>("there is no bundled model in " + folder + "/en-de, " + folder +
                                   "; set FUSELAGE_MODELS to the directory that holds en-de"));
  std::filesystem::create_directories(folder + "/en-de");
  write_file_atomically(folder + "/en-de/config.json", "{}");
  EXPECT_EQ(find_bundled_model(), folder + "/en-de");
  ::setenv("FUSELAGE_MODELS", models.c_str(), 1);
  std::filesystem::remove_all(folder);
}

/// A folder of models, in the place of the bundled ones.
class BundledModels : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* name : {"de-en", "en-cs", "en-de", "notes"}) {
      std::filesystem::create_directories(folder_ + "/" + name);
      if (std::string_view(name) != "notes")
        write_file_atomically(folder_ + "/" + name + "/config.json", "{}");
    }
    ::setenv("FUSELAGE_MODELS", folder_.c_str(), 1);
  }
  void TearDown() override {
    ::setenv("FUSELAGE_MODELS", models_.c_str(), 1);
    std::filesystem::remove_all(folder_);
  }

  const std::string models_ = std::getenv("FUSELAGE_MODELS");
  const std::string folder_ = temp_path("bundled");
};

TEST_F(BundledModels, AreFoundByTheirLanguages) {
  EXPECT_EQ(find_bundled_model(), folder_ + "/en-de");
  EXPECT_EQ(find_bundled_model("de", "en"), folder_ + "/de-en");
  EXPECT_EQ(find_bundled_model("en", "cs"), folder_ + "/en-cs");
  EXPECT_EQ(find_bundled_model("de"), folder_ + "/de-en");
  EXPECT_EQ(find_bundled_model("", "de"), folder_ + "/en-de");
  ::setenv("FUSELAGE_MODELS", (folder_ + "/en-cs").c_str(), 1);
  EXPECT_EQ(find_bundled_model("en", "de"), folder_ + "/en-cs") << "the model itself";
}

TEST_F(BundledModels, AreListedWhenNoneFits) {
  EXPECT_THAT(
      [] { find_bundled_model("fr"); },
      ThrowsMessage<Error>("there is no bundled model from 'fr'; there are de-en, en-cs, en-de"));
  EXPECT_THAT([] { find_bundled_model("de", "cs"); },
              ThrowsMessage<Error>("there is no bundled model from 'de' to 'cs'; there are de-en, "
                                   "en-cs, en-de"));
  std::filesystem::remove_all(folder_);
  EXPECT_THAT([] { find_bundled_model("", "cs"); },
              ThrowsMessage<Error>("there is no bundled model to 'cs'; there are none"));
}

TEST_F(BundledModels, AreFoundByTheirNames) {
  EXPECT_EQ(model_path("en-cs"), folder_ + "/en-cs");
  for (const std::string other : {"", ".", "notes", "cs-en", "models/en-cs"})
    EXPECT_EQ(model_path(other), other);
  EXPECT_THAT([] { load_model("en-cs"); }, ThrowsMessage<Error>(HasSubstr(folder_ + "/en-cs")));
  ::setenv("FUSELAGE_MODELS", (folder_ + "/en-cs").c_str(), 1);
  EXPECT_EQ(model_path("en-cs"), folder_ + "/en-cs") << "the model itself";
  EXPECT_EQ(model_path("en-de"), "en-de");
}

TEST_F(BundledModels, AreAllFound) {
  EXPECT_THAT(find_bundled_models(),
              ElementsAre(folder_ + "/en-de", folder_ + "/de-en", folder_ + "/en-cs"));
  ::setenv("FUSELAGE_MODELS", (folder_ + "/en-cs").c_str(), 1);
  EXPECT_THAT(find_bundled_models(), ElementsAre(folder_ + "/en-cs")) << "the model itself";
  ::setenv("FUSELAGE_MODELS", (folder_ + "/notes").c_str(), 1);
  EXPECT_THAT([] { find_bundled_models(); },
              ThrowsMessage<Error>("there is no bundled model in " + folder_ +
                                   "/notes; set FUSELAGE_MODELS to the directory that holds them"));
}

}  // namespace
}  // namespace fuselage::make_model_test
