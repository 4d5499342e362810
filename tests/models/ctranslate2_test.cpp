// Directories of CTranslate2, made by hand.

#include <gmock/gmock.h>

#include <filesystem>

#include "fuselage/base/error.h"
#include "fuselage/base/quantized.h"
#include "fuselage/models/load_model.h"
#include "tests/models/ctranslate2_writer.h"
#include "tests/temporary_folder.h"

namespace fuselage::ctranslate2_test {
namespace {

using support::Ctranslate2Model;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr const char* kMatrix = "decoder/layer_0/ffn/linear_1/weight";
constexpr const char* kStart = "decoder/start_embedding";

class Ctranslate2Directory : public ::testing::Test {
 protected:
  std::string path() const { return folder_ / "model"; }

  Model load(const Ctranslate2Model& model) const {
    std::filesystem::remove_all(path());
    std::filesystem::create_directory(path());
    model.write(path());
    return load_model(path());
  }

  std::string error_of(const Ctranslate2Model& model) const {
    try {
      load(model);
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), AllOf(HasSubstr(path()), ::testing::Not(HasSubstr("\n"))));
      return error.what();
    }
    return "";
  }

  /// A matrix of `rows` by `width` integers, and their scales.
  template <typename T>
  static void quantize(Ctranslate2Model& model, const std::string& name, std::uint8_t type,
                       const std::vector<T>& integers, const std::vector<float>& scales) {
    auto shape = model.items.at(name).shape;
    model.put(name, shape, type, integers);
    const auto count = static_cast<std::uint32_t>(scales.size());
    model.put(name + "_scale",
              count == 1 ? std::vector<std::uint32_t>{} : std::vector<std::uint32_t>{count}, 0,
              scales);
  }

  support::TemporaryFolder folder_;
};

TEST_F(Ctranslate2Directory, HasMatricesByColumns) {
  const Ctranslate2Model stored;
  const Model model = load(stored);
  EXPECT_EQ(model.format, "CTranslate2 directory");
  EXPECT_EQ(model.architecture, "ctranslate2-transformer");
  EXPECT_EQ(model.graph.name(), "model");
  EXPECT_EQ(model.decode, DecodeDefaults{});
  const Tensor& matrix = model.weights.at(kMatrix);
  EXPECT_THAT(matrix.shape(), ElementsAre(Ctranslate2Model::kInner, Ctranslate2Model::kWidth));
  const std::vector<float> rows = stored.numbers(kMatrix);
  EXPECT_EQ(matrix.data<float>()[2 * Ctranslate2Model::kWidth + 5],
            rows[5 * Ctranslate2Model::kInner + 2]);
  EXPECT_TRUE(model.graph.find_output("logits").valid());
  EXPECT_TRUE(model.graph.find_output("alignment").valid());
}

TEST_F(Ctranslate2Directory, StartsWithARowOfTheTable) {
  Ctranslate2Model stored;
  const std::vector<float> table = stored.numbers("decoder/embeddings/weight");
  const auto start_of = [&](const Model& model) {
    return model.weights.at(kStart).data<float>()[3];
  };
  EXPECT_EQ(start_of(load(stored)), table[1 * Ctranslate2Model::kWidth + 3]);
  stored.config = R"({"decoder_start_token": "</s>"})";
  EXPECT_EQ(start_of(load(stored)), table[2 * Ctranslate2Model::kWidth + 3]);
  stored.config = R"({"decoder_start_token": "<pad>"})";
  EXPECT_EQ(start_of(load(stored)), table[3]) << "the unknown word";
  stored.config = R"({"decoder_start_token": null})";
  EXPECT_THAT(error_of(stored), HasSubstr("decoder_start_token is null"));
  stored.attribute("decoder/start_from_zero_embedding", std::int8_t{1});
  stored.config = R"({"decoder_start_token": "<s>"})";
  EXPECT_EQ(load(stored).weights.count(kStart), 0U);
}

TEST_F(Ctranslate2Directory, StatesItsText) {
  Ctranslate2Model stored;
  stored.config = R"({"unk_token": "[U]", "eos_token": "[E]", "bos_token": "[B]",
                      "decoder_start_token": "x", "add_source_bos": true, "lang_ids": [1]})";
  Model model = load(stored);
  EXPECT_EQ(model.text.unknown, "[U]");
  EXPECT_EQ(model.text.end, "[E]");
  EXPECT_FALSE(model.text.source_end);
  EXPECT_THAT(model.text.source_prefix, ElementsAre("[B]"));
  model = load(Ctranslate2Model());
  EXPECT_TRUE(model.text.source_end);
  EXPECT_TRUE(model.text.source_prefix.empty());
  EXPECT_THAT(model.vocabularies,
              ElementsAre(path() + "/source_vocabulary.json", path() + "/target_vocabulary.json"));
  EXPECT_TRUE(model.splitters.empty());
}

TEST_F(Ctranslate2Directory, HasItsTextAmongTheVariablesInEarlierVersions) {
  Ctranslate2Model stored;
  stored.header.version = 5;
  stored.config.clear();
  Model model = load(stored);
  EXPECT_EQ(model.text.end, "</s>");
  EXPECT_FALSE(model.text.source_end);
  stored.put<char>("eos_token", {3}, 1, {'[', 'E', ']'});
  stored.attribute("with_source_bos", std::int8_t{1});
  stored.attribute("with_source_eos", std::int8_t{1});
  stored.attribute("with_target_bos", std::int8_t{0});
  stored.vocabularies["target_vocabulary.json"] = R"(["<unk>", "<s>", "[E]", "x", "y", "z"])";
  model = load(stored);
  EXPECT_EQ(model.text.end, "[E]");
  EXPECT_TRUE(model.text.source_end);
  EXPECT_THAT(model.text.source_prefix, ElementsAre("<s>"));
  EXPECT_EQ(model.weights.at(kStart).data<float>()[0],
            stored.numbers("decoder/embeddings/weight")[2 * Ctranslate2Model::kWidth]);
  stored.attribute("user_decoder_start_tokens", std::int8_t{1});
  EXPECT_THAT(error_of(stored), HasSubstr("decoder_start_token"));
}

TEST_F(Ctranslate2Directory, HasAttributesOfBothSidesInEarlierRevisions) {
  Ctranslate2Model stored(2);
  stored.header = {2, "TransformerBase", 2};
  stored.config.clear();
  for (const std::string side : {"encoder", "decoder"})
    for (const char* name : {"/num_heads", "/pre_norm", "/activation", "/scale_embeddings"})
      stored.items.erase(side + name);
  stored.attribute("pre_norm", std::int8_t{0});
  for (const std::string side : {"encoder", "decoder"}) {
    stored.items.erase(side + "/layer_norm/gamma");
    stored.items.erase(side + "/layer_norm/beta");
  }
  stored.items["encoder/embeddings/weight"] = stored.items.at("encoder/embeddings_0/weight");
  stored.items["encoder/embeddings/weight"].name = "encoder/embeddings/weight";
  stored.items.erase("encoder/embeddings_0/weight");
  EXPECT_THAT(load(stored).options, AllOf(HasSubstr(R"("encoder-heads": "8")"),
                                          HasSubstr(R"("encoder-pre-norm": "false")"),
                                          HasSubstr(R"("decoder-layers": "2")"),
                                          HasSubstr(R"("decoder-embedding-scale": "2.828)")));
  stored.header.kind = "TransformerBig";
  EXPECT_THAT(error_of(stored), HasSubstr("no queries, keys and values of 16 heads"));
}

TEST_F(Ctranslate2Directory, HasTablesOfBothSidesOnce) {
  Ctranslate2Model stored;
  stored.items.erase("encoder/embeddings_0/weight");
  stored.items.erase("decoder/projection/weight");
  for (const char* alias : {"encoder/embeddings_0/weight", "decoder/projection/weight"})
    stored.aliases.emplace_back(alias, "decoder/embeddings/weight");
  // Other weights share their numbers.
  stored.items.erase("encoder/layer_norm/beta");
  stored.aliases.emplace_back("encoder/layer_norm/beta", "decoder/layer_norm/beta");
  stored.vocabularies = {{"shared_vocabulary.txt", "<unk>\n<s>\n</s>\nx\ny\nz\n"}};
  const Model model = load(stored);
  EXPECT_TRUE(model.graph.find_domain("vocabulary").valid());
  EXPECT_FALSE(model.graph.find_domain("target_vocabulary").valid());
  EXPECT_EQ(model.weights.count("encoder/embeddings_0/weight"), 0U);
  EXPECT_EQ(model.weights.at("encoder/layer_norm/beta").bytes(),
            model.weights.at("decoder/layer_norm/beta").bytes());
  EXPECT_EQ(model.vocabularies[0], model.vocabularies[1]);
}

TEST_F(Ctranslate2Directory, KeepsIntegersWithAScaleForEachRow) {
  Ctranslate2Model stored;
  std::vector<std::int8_t> integers(Ctranslate2Model::kWidth * Ctranslate2Model::kInner, 3);
  integers[Ctranslate2Model::kInner] = -127;
  std::vector<float> scales(Ctranslate2Model::kWidth, 50);
  scales[1] = 25;
  quantize(stored, kMatrix, 1, integers, scales);
  const Model model = load(stored);
  const Tensor& matrix = model.weights.at(kMatrix);
  EXPECT_EQ(matrix.dtype(), DType::qint8);
  EXPECT_THAT(matrix.shape(), ElementsAre(Ctranslate2Model::kWidth, Ctranslate2Model::kInner));
  const Tensor numbers = matrix.to_f32();
  EXPECT_FLOAT_EQ(numbers.data<float>()[0], 3 / 50.0F);
  EXPECT_FLOAT_EQ(numbers.data<float>()[Ctranslate2Model::kInner], -127 / 25.0F);
  EXPECT_EQ(model.decode.precision, Precision::int8);

  integers[4] = -128;
  quantize(stored, kMatrix, 1, integers, scales);
  EXPECT_THAT(error_of(stored), AllOf(HasSubstr(kMatrix), HasSubstr("-128")));
  integers[4] = 0;
  scales[2] = 0;
  quantize(stored, kMatrix, 1, integers, scales);
  EXPECT_THAT(error_of(stored), HasSubstr("the scale of row 2 is 0"));
  scales.resize(3);
  quantize(stored, kMatrix, 1, integers, scales);
  EXPECT_THAT(error_of(stored), HasSubstr("3 scales for 8 rows"));
  stored.items.erase(std::string(kMatrix) + "_scale");
  EXPECT_THAT(error_of(stored), HasSubstr("its integers have no scale"));
}

TEST_F(Ctranslate2Directory, MultipliesIntegersOf16BitsThatFit) {
  Ctranslate2Model stored;
  constexpr std::uint32_t kWide = 400;
  stored.add("decoder/layer_0/ffn/linear_0/weight", {kWide, Ctranslate2Model::kWidth});
  stored.add("decoder/layer_0/ffn/linear_0/bias", {kWide});
  stored.add(kMatrix, {Ctranslate2Model::kWidth, kWide});
  std::vector<std::int16_t> integers(Ctranslate2Model::kWidth * kWide, 100);
  quantize(stored, kMatrix, 2, integers, {1024});
  Model model = load(stored);
  EXPECT_EQ(model.weights.at(kMatrix).dtype(), DType::qint16);
  EXPECT_EQ(model.decode.precision, Precision::int16);
  integers.assign(integers.size(), 1024);
  quantize(stored, kMatrix, 2, integers, {1024});
  model = load(stored);
  EXPECT_EQ(model.weights.at(kMatrix).dtype(), DType::f32) << "sums of 32 bits are too small";
  EXPECT_THAT(model.weights.at(kMatrix).shape(), ElementsAre(kWide, Ctranslate2Model::kWidth));
  EXPECT_EQ(model.weights.at(kMatrix).data<float>()[7], 1);
  EXPECT_EQ(model.decode.precision, Precision::int16);
}

TEST_F(Ctranslate2Directory, HasFloatsOf16Bits) {
  Ctranslate2Model stored;
  const auto halve = [&](std::uint8_t type, std::uint16_t (*narrow)(float)) {
    for (auto& [name, item] : stored.items) {
      if (item.type != 0 || item.shape.empty()) continue;
      std::vector<std::uint16_t> halves;
      for (const float number : Ctranslate2Model().numbers(name)) halves.push_back(narrow(number));
      stored.put(name, item.shape, type, halves);
    }
  };
  halve(4, float_to_half);
  Model model = load(stored);
  const auto number = [&] { return model.weights.at(kMatrix).data<float>()[0]; };
  const float exact = Ctranslate2Model().numbers(kMatrix)[0];
  EXPECT_NEAR(number(), exact, 3e-4);
  EXPECT_EQ(model.decode.precision, std::nullopt);
  stored = {};
  halve(5, float_to_bfloat16);
  model = load(stored);
  EXPECT_EQ(number(), bfloat16_to_float(float_to_bfloat16(exact)));
  EXPECT_EQ(model.decode.precision, Precision::bf16);
}

TEST_F(Ctranslate2Directory, IsRefusedByTheNameOfAnAttribute) {
  const auto with = [&](const std::string& name, auto value) {
    Ctranslate2Model stored;
    stored.attribute(name, value);
    return error_of(stored);
  };
  EXPECT_THAT(with("decoder/alibi", std::int8_t{1}),
              HasSubstr("the attribute 'decoder/alibi', which is 1, is not supported"));
  EXPECT_EQ(with("decoder/alibi", std::int8_t{0}), "");
  EXPECT_EQ(with("decoder/scale_alibi", std::int8_t{1}), "");
  EXPECT_THAT(with("decoder/layer_0/self_attention/rotary_dim", std::int32_t{4}),
              HasSubstr("rotary_dim"));
  EXPECT_THAT(with("encoder/layer_0/self_attention/num_heads_kv", std::int32_t{1}),
              HasSubstr("1 heads of keys and values for 2 of queries"));
  EXPECT_EQ(with("encoder/layer_0/self_attention/num_heads_kv", std::int32_t{2}), "");
  EXPECT_THAT(with("decoder/final_logit_softcapping", 30.0F), HasSubstr("softcapping"));
  EXPECT_THAT(with("decoder/layer_0/attention/queries_scale", 0.25F),
              HasSubstr("a side must have one scale"));
  EXPECT_THAT(with("encoder/activation", std::int8_t{7}), HasSubstr("only 0 to 6 are known"));
  EXPECT_THAT(with("encoder/num_heads", std::int16_t{0}), HasSubstr("num_heads is 0"));
  EXPECT_THAT(with("encoder/num_heads", std::int16_t{3}), HasSubstr("of 3 heads"));
  EXPECT_THAT(with("decoder/alignment_layer", std::int16_t{1}), HasSubstr("layer of alignments"));
  EXPECT_THAT(with("decoder/alignment_heads", std::int16_t{3}), HasSubstr("of 3 heads"));
}

TEST_F(Ctranslate2Directory, IsRefusedByTheNameOfAVariable) {
  Ctranslate2Model stored;
  stored.add("decoder/layer_0/self_attention/q_norm/gamma", {4});
  EXPECT_THAT(error_of(stored), HasSubstr("q_norm/gamma"));
  stored = {};
  stored.add("encoder/embeddings_1/weight", {3, 4});
  EXPECT_THAT(error_of(stored), HasSubstr("factors of words are not supported"));
  stored = {};
  stored.items.erase("decoder/layer_0/ffn/layer_norm/beta");
  EXPECT_THAT(error_of(stored), HasSubstr("decoder/layer_0/ffn/layer_norm/beta"));
  stored = {};
  stored.items.erase("decoder/layer_0/ffn/linear_0/weight");
  EXPECT_THAT(error_of(stored), HasSubstr("decoder/layer_0/ffn/linear_0/weight' is missing"));
  stored = {};
  stored.add(kMatrix, {3, 3});
  EXPECT_THAT(error_of(stored), HasSubstr("has shape [3, 3]"));
  stored = {};
  stored.put<std::int32_t>(kMatrix, {1}, 3, {1});
  EXPECT_THAT(error_of(stored), HasSubstr("not i32"));
}

TEST_F(Ctranslate2Directory, IsOfASupportedKind) {
  Ctranslate2Model stored;
  stored.header.kind = "TransformerDecoderSpec";
  EXPECT_THAT(error_of(stored), HasSubstr("a language model of CTranslate2"));
  stored.header.kind = "WhisperSpec";
  EXPECT_THAT(error_of(stored), HasSubstr("the kind 'WhisperSpec' are not supported"));
  stored.header = {6, "TransformerSpec", 8};
  EXPECT_THAT(error_of(stored), HasSubstr("revision 8"));
  stored.header.revision = 1;
  EXPECT_THAT(error_of(stored), HasSubstr("only 2 to 7"));
}

TEST_F(Ctranslate2Directory, HasAConfigurationOfTheRightTypes) {
  Ctranslate2Model stored;
  const auto with = [&](const std::string& config) {
    stored.config = config;
    return error_of(stored);
  };
  EXPECT_THAT(with("[]"), HasSubstr("config.json: a configuration is an object"));
  EXPECT_THAT(with("{"), HasSubstr("config.json: invalid JSON"));
  EXPECT_THAT(with(R"({"add_source_eos": 1})"),
              HasSubstr("'add_source_eos' must be true or false"));
  EXPECT_THAT(with(R"({"eos_token": 2})"), HasSubstr("'eos_token' must be a text, not '2'"));
  EXPECT_THAT(with(R"({"layer_norm_epsilon": 2, "decoder_start_token": "x"})"),
              HasSubstr("'layer_norm_epsilon' is 2"));
  EXPECT_THAT(with(R"({"quantization_type": 1})"), HasSubstr("AWQ"));
  EXPECT_EQ(with(R"({"layer_norm_epsilon": null, "decoder_start_token": "x"})"), "");
}

TEST_F(Ctranslate2Directory, HasVocabulariesBesideIt) {
  Ctranslate2Model stored;
  stored.vocabularies["source_vocabulary.json"] = "";
  EXPECT_THAT(error_of(stored), HasSubstr("source_vocabulary, in .json or .txt"));
  stored = {};
  stored.vocabularies["target_vocabulary.json"] = "{}";
  EXPECT_THAT(error_of(stored), HasSubstr("a list of words is needed"));
  stored.vocabularies["target_vocabulary.json"] = R"(["a", 1])";
  EXPECT_THAT(error_of(stored), HasSubstr("entry 1 of the list is no text"));
  stored.vocabularies["target_vocabulary.json"] = R"(["a", "b", "c", "d", "e", "f"])";
  EXPECT_THAT(error_of(stored),
              HasSubstr("neither '<s>', with which a decoder starts, nor '<unk>'"));
}

TEST_F(Ctranslate2Directory, MayHaveSplittersBesideIt) {
  const Ctranslate2Model stored;
  load(stored);
  for (const char* name : {"/source.spm", "/target.spm"}) write_file_atomically(path() + name, "x");
  EXPECT_THAT(load_model(path()).splitters,
              ElementsAre(path() + "/source.spm", path() + "/target.spm"));
}

TEST_F(Ctranslate2Directory, IsGivenAsAWhole) {
  load(Ctranslate2Model());
  EXPECT_THAT([&] { load_model(path() + "/model.bin"); },
              ::testing::ThrowsMessage<Error>(HasSubstr("give that directory")));
  std::string bytes = Ctranslate2Model().bytes();
  bytes.pop_back();
  write_file_atomically(path() + "/model.bin", bytes);
  EXPECT_THAT([&] { load_model(path() + "/"); },
              ::testing::ThrowsMessage<Error>(HasSubstr("truncated")));
}

}  // namespace
}  // namespace fuselage::ctranslate2_test
