#include "models/marian/refused_models.h"

#include <gmock/gmock.h>

#include "fuselage/base/error.h"
#include "models/marian/published_files.h"
#include "models/marian/unused_options.h"

namespace fuselage::refused_models_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

void refuse(const std::string& yaml, const TensorMap& tensors = {}) {
  refuse_unsupported_model(ModelOptions::from_yaml(yaml, "m.npz"), tensors);
}

void expect_refused(const std::string& yaml, const std::string& message) {
  EXPECT_THAT([&] { refuse(yaml); },
              ThrowsMessage<Error>(AllOf(HasSubstr("m.npz: "), HasSubstr(message))));
}

TEST(RefusedModels, HaveTheirReason) {
  expect_refused("type: char-s2s",
                 "type 'char-s2s' is not supported: its encoder has convolutions");
  expect_refused("type: comet-qe", "it rates translations");
  expect_refused("type: bert-classifier", "it classifies");
  expect_refused("type: hard-att", "hard attention");
  expect_refused("type: transformer\nlemma-dim-emb: 128", "factored vocabulary");
  expect_refused("type: transformer\nfactors-dim-emb: 8", "factored vocabulary");
  expect_refused("type: s2s\nulr: true", "universal embeddings");
  EXPECT_THAT(
      [] {
        refuse("type: transformer", {{"TransformerEncoder->layer1", Tensor()}});
      },
      ThrowsMessage<Error>(HasSubstr("later layer framework")));
}

TEST(RefusedModels, AreNoOthers) {
  EXPECT_NO_THROW(refuse("type: transformer\nlemma-dim-emb: 0\nlemma-dependency: ''\nulr: false"));
  EXPECT_NO_THROW(refuse(""));
  // Building it says that the type is unknown.
  EXPECT_NO_THROW(refuse("type: something-else"));
}

TEST(RefusedModels, OfFactoredVocabulariesAreFoundInDirectories) {
  EXPECT_THAT(find_published_files({"model.npz", "vocab.fsv"}, "dir").vocabularies,
              ElementsAre("vocab.fsv", "vocab.fsv"));
}

TEST(RefusedOptions, HaveAReasonWhereItHelps) {
  EXPECT_THAT(reason_against("output-sampling"), HasSubstr("none is drawn"));
  EXPECT_EQ(reason_against("cite"), "");
  EXPECT_EQ(reason_against("beam-size"), "");
  EXPECT_TRUE(known_to_marian("cite"));
  EXPECT_FALSE(known_to_marian("max-length-break"));
}

TEST(TrainingOptions, AreThoseOfTrainingAlone) {
  for (const char* name : {"after", "learn-rate", "sync-sgd", "valid-translation-output"})
    EXPECT_TRUE(is_for_training(name)) << name;
  for (const char* name : {"beam-size", "early-stopping", "mini-batch", ""})
    EXPECT_FALSE(is_for_training(name)) << name;
}

}  // namespace
}  // namespace fuselage::refused_models_test
