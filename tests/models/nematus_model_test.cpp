#include "models/marian/nematus_model.h"

#include <gmock/gmock.h>

#include <cmath>

#include "base/files/file.h"
#include "fuselage/base/error.h"
#include "fuselage/models/architectures/architecture.h"
#include "fuselage/models/load_model.h"
#include "graph/traversal.h"
#include "models/formats/npz.h"
#include "models/formats/npz_writer.h"
#include "models/marian/nematus_options.h"
#include "tests/temporary_folder.h"

namespace fuselage::nematus_model_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr std::int64_t kWords = 5, kWidth = 4, kState = 6;

Tensor tensor(std::vector<std::int64_t> shape, float first = 1) {
  Tensor result(DType::f32, std::move(shape));
  for (std::int64_t i = 0; i < result.size(); ++i)
    result.mutable_data<float>()[i] = first + static_cast<float>(i) / 8;
  return result;
}

void add_cell(TensorMap& model, const std::string& prefix, std::int64_t in,
              const std::string& suffix = "") {
  model.emplace(prefix + "_U" + suffix, tensor({kState, 2 * kState}));
  model.emplace(prefix + "_Ux" + suffix, tensor({kState, kState}));
  model.emplace(prefix + "_b" + suffix, tensor({2 * kState}));
  model.emplace(prefix + "_bx" + suffix, tensor({kState}));
  if (in == 0) return;
  model.emplace(prefix + "_W" + suffix, tensor({in, 2 * kState}));
  model.emplace(prefix + "_Wx" + suffix, tensor({in, kState}));
}

/// A shallow model, with biases of one dimension, as Nematus has them.
TensorMap shallow() {
  TensorMap model;
  model.emplace("Wemb", tensor({kWords, kWidth}));
  model.emplace("Wemb_dec", tensor({kWords, kWidth}));
  for (const char* side : {"encoder", "encoder_r", "decoder"}) add_cell(model, side, kWidth);
  model.emplace("decoder_U_nl", tensor({kState, 2 * kState}));
  model.emplace("decoder_Ux_nl", tensor({kState, kState}));
  model.emplace("decoder_b_nl", tensor({2 * kState}));
  model.emplace("decoder_bx_nl", tensor({kState}));
  model.emplace("decoder_Wc", tensor({2 * kState, 2 * kState}));
  model.emplace("decoder_Wcx", tensor({2 * kState, kState}));
  model.emplace("decoder_W_comb_att", tensor({kState, 2 * kState}));
  model.emplace("decoder_Wc_att", tensor({2 * kState, 2 * kState}));
  model.emplace("decoder_b_att", tensor({2 * kState}));
  model.emplace("decoder_U_att", tensor({2 * kState, 1}));
  model.emplace("decoder_c_tt", tensor({1}));
  model.emplace("ff_state_W", tensor({2 * kState, kState}));
  model.emplace("ff_state_b", tensor({kState}));
  const std::pair<const char*, std::int64_t> terms[] = {
      {"prev", kWidth}, {"lstm", kState}, {"ctx", 2 * kState}};
  for (const auto& [name, in] : terms) {
    model.emplace(std::string("ff_logit_") + name + "_W", tensor({in, kWidth}));
    model.emplace(std::string("ff_logit_") + name + "_b", tensor({kWidth}));
  }
  model.emplace("ff_logit_W", tensor({kWidth, kWords}));
  model.emplace("ff_logit_b", tensor({kWords}));
  return model;
}

/// Builds the graph, which uses every parameter.
Model build(const TensorMap& stored, const std::string& json = "") {
  const NematusModel model = read_nematus_model(stored, json, "model.npz");
  const auto options = ModelOptions::from_yaml(model.config_yaml, "model.npz");
  return build_model(options.text("type"), options, model.tensors);
}

TEST(NematusModel, NeedsNoConfiguration) {
  ASSERT_TRUE(is_nematus_model(shallow()));
  EXPECT_NO_THROW(build(shallow()));
  TensorMap tied = shallow();
  tied.erase("ff_logit_W");
  EXPECT_NO_THROW(build(tied));
  tied.erase("Wemb_dec");
  EXPECT_NO_THROW(build(tied));
  tied.emplace("ff_logit_W", tensor({kWidth, kWords}));
  EXPECT_NO_THROW(build(tied));
}

TEST(NematusModel, OfMarianIsTheSameWithoutItsConfiguration) {
  const support::TemporaryFolder folder;
  for (const std::string name : {"amun", "nematus"}) {
    const std::string path = std::string(FUSELAGE_TEST_DATA) + "/" + name + "/model.npz";
    write_npz(folder / "model.npz", read_npz(path).tensors);
    const Model expected = load_model(path), model = load_model(folder / "model.npz");
    EXPECT_TRUE(same_graph(model.graph, expected.graph)) << name;
    EXPECT_EQ(model.weights.size(), expected.weights.size());
  }
}

TEST(NematusModel, MayBeDeep) {
  TensorMap model = shallow();
  add_cell(model, "encoder", 0, "_drt_1");
  add_cell(model, "encoder_r", 0, "_drt_1");
  for (const char* side : {"encoder_2", "encoder_r_2", "decoder_2"}) {
    add_cell(model, side, kState);
    if (std::string(side) != "decoder_2") add_cell(model, side, 0, "_drt_1");
  }
  model.at("encoder_2_U") = tensor({kState, 2 * kState}, 77);
  EXPECT_NO_THROW(build(model));
  const NematusModel converted = read_nematus_model(model, "", "model.npz");
  EXPECT_THAT(
      converted.config_yaml,
      AllOf(HasSubstr("enc-type: alternating"), HasSubstr("enc-depth: 2"),
            HasSubstr("dec-depth: 2"), HasSubstr("skip: true"), HasSubstr("enc-cell-depth: 2")));
  // Level 2 of Nematus's forward encoder reads the backward one's output: Marian's second stack.
  EXPECT_EQ(converted.tensors.at("encoder_bi_r_l2_cell1_U").data<float>()[0], 77);
  // The context begins with it in Nematus, and ends with it in Marian.
  const Tensor& state = converted.tensors.at("decoder_ff_state_W");
  EXPECT_EQ(state.data<float>()[0], model.at("ff_state_W").data<float>()[kState * kState]);
  EXPECT_EQ(state.data<float>()[kState * kState], model.at("ff_state_W").data<float>()[0]);
  EXPECT_EQ(model.at("ff_state_W").data<float>()[0], 1) << "the input has changed";
}

TEST(NematusModel, HasWeightNormalizationFolded) {
  TensorMap model = shallow();
  model.emplace("encoder_Ux_wns", tensor({kState}, 2));
  const NematusModel converted = read_nematus_model(model, "", "model.npz");
  const float* w = model.at("encoder_Ux").data<float>();
  double squares = 1e-5;
  for (std::int64_t r = 0; r < kState; ++r)
    squares += static_cast<double>(w[r * kState + 1]) * w[r * kState + 1];
  EXPECT_NEAR(converted.tensors.at("encoder_bi_Ux").data<float>()[1],
              w[1] / (std::sqrt(squares) * 2.125), 1e-6);
  model.emplace("decoder_X_wns", tensor({kState}));
  EXPECT_THAT([&] { build(model); },
              ThrowsMessage<Error>(HasSubstr("decoder_X_wns are gains of no")));
}

TEST(NematusModel, OfEarlyVersionsIsScaledByDropout) {
  const std::string json = R"({"use_dropout": true, "dropout_source": 0.1, "dropout_target": 0.2,
                               "dropout_embedding": 0.5, "dropout_hidden": 0.25)";
  const auto first = [&](const std::string& text, const std::string& name, const TensorMap& model) {
    return read_nematus_model(model, text, "model.npz").tensors.at(name).data<float>()[0];
  };
  const std::string old = json + "}", later = json + ", \"model_version\": 0.1}";
  EXPECT_FLOAT_EQ(first(old, "encoder_bi_W", shallow()), 0.45f);
  EXPECT_FLOAT_EQ(first(old, "encoder_bi_r_Wx", shallow()), 0.45f);
  EXPECT_FLOAT_EQ(first(old, "decoder_cell1_W", shallow()), 0.4f);
  EXPECT_FLOAT_EQ(first(old, "decoder_ff_logit_l1_W0", shallow()), 0.4f);
  for (const char* name : {"encoder_bi_U", "decoder_cell2_Ux", "decoder_cell2_W", "decoder_Wc_att",
                           "decoder_W_comb_att", "decoder_ff_state_W", "decoder_ff_logit_l1_W2",
                           "decoder_ff_logit_l2_W"})
    EXPECT_FLOAT_EQ(first(old, name, shallow()), 0.75f) << name;
  for (const char* name : {"encoder_Wemb", "encoder_bi_b", "decoder_ff_state_b", "decoder_b_att"})
    EXPECT_FLOAT_EQ(first(old, name, shallow()), 1) << name;
  EXPECT_FLOAT_EQ(first(later, "encoder_bi_W", shallow()), 1);
  // A tied output is scaled, its embeddings are not.
  TensorMap tied = shallow();
  tied.erase("ff_logit_W");
  EXPECT_FLOAT_EQ(first(old, "decoder_ff_logit_l2_W", tied), 0.75f);
  EXPECT_FLOAT_EQ(first(old, "decoder_Wemb", tied), 1);
}

TEST(NematusModel, OfAnotherArchitectureIsRefusedByName) {
  const auto expect_refused = [](const std::string& json, const std::string& message) {
    EXPECT_THAT([&] { parse_nematus_options(json, "m.npz.json"); },
                ThrowsMessage<Error>(AllOf(HasSubstr("m.npz.json"), HasSubstr(message))))
        << json;
  };
  expect_refused(R"({"encoder": "lstm"})", R"(encoder is '"lstm"', which is not supported)");
  expect_refused(R"({"decoder": "lstm_cond"})", "order of gates");
  expect_refused(R"({"factors": 2})", "factored vocabularies are not supported");
  expect_refused(R"({"deep_fusion_lm": true})", "language models as scorers are not supported");
  expect_refused(R"({"model_type": "transformer"})", "<GO>");
  expect_refused(R"({"rnn_lexical_model": true})", "lexical model");
  expect_refused(R"({"dec_deep_context": true})", "higher layers");
  expect_refused(R"({"use_dropout": 1})", "use_dropout must be true or false");
  expect_refused(R"({"dropout_hidden": 1})", "dropout_hidden must be from 0 to less than 1");
  expect_refused(R"({"dictionaries": [1]})", "dictionaries must be a list of file names");
  expect_refused("[]", "no JSON object");
  expect_refused("{", "m.npz.json");
  TensorMap model = shallow();
  model.emplace("Wemb1", tensor({2, 2}));
  EXPECT_THAT([&] { build(model); }, ThrowsMessage<Error>(HasSubstr("source factors (Wemb1)")));
  model = shallow();
  model.at("encoder_Ux") = tensor({3});
  EXPECT_THROW(build(model), Error);
  model = shallow();
  model.erase("decoder_Wcx");
  EXPECT_THROW(build(model), Error);
  model = shallow();
  add_cell(model, "encoder_1001", 1);
  EXPECT_THAT([&] { build(model); }, ThrowsMessage<Error>(HasSubstr("level 1001")));
}

TEST(NematusOptions, NameTheVocabularies) {
  EXPECT_THAT(parse_nematus_options(R"({"dictionaries": ["a.json", "b.json"]})", "j").dictionaries,
              ElementsAre("a.json", "b.json"));
  EXPECT_THAT(parse_nematus_options(R"({"source_dicts": ["a.json"], "target_dict": "b.json"})", "j")
                  .dictionaries,
              ElementsAre("a.json", "b.json"));
}

}  // namespace
}  // namespace fuselage::nematus_model_test
