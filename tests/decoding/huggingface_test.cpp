// Directories of Hugging Face's Transformers, against what its generate() and log-softmax give.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "base/files/file.h"
#include "fuselage/base/error.h"
#include "fuselage/decoding/scorer.h"
#include "fuselage/decoding/translator.h"
#include "fuselage/models/directory/model_directory.h"
#include "fuselage/models/formats/safetensors.h"
#include "fuselage/models/load_model.h"
#include "tests/decoding/marian_output.h"
#include "tests/decoding/support.h"

namespace fuselage::huggingface_test {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAreArray;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;
using Json = nlohmann::json;

constexpr double kTolerance = 1e-4;
constexpr std::int32_t kNewTokens = 24;  ///< with which the expected output was made

std::string directory(const std::string& name) {
  return support::conformance_case("huggingface/" + name);
}

std::vector<std::string> lines(const std::string& name, const std::string& file) {
  return support::lines_of(read_file(directory(name) + "/" + file));
}

/// The words of a sequence of generate(): without those that it begins with, up to the end symbol.
WordIds words_of(const Json& sequence, std::size_t first, std::int32_t end) {
  WordIds words;
  for (std::size_t i = first; i < sequence.size(); ++i) {
    words.push_back(sequence[i].get<std::int32_t>());
    if (words.back() == end) break;
  }
  return words;
}

struct Case {
  std::string name;
  std::size_t first;  ///< words before those of the translation: the decoder's first, a language
  std::int32_t end;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }

class HuggingFace : public ::testing::TestWithParam<Case> {
 protected:
  Json expected() const {
    return Json::parse(read_file(directory(GetParam().name) + "/expected.json"));
  }
};

INSTANTIATE_TEST_SUITE_P(Models, HuggingFace,
                         ::testing::Values(Case{"marian", 1, 0}, Case{"m2m100", 2, 2},
                                           Case{"t5", 1, 1}),
                         [](const auto& tested) { return tested.param.name; });

TranslatorOptions options(const std::string& backend, std::int32_t beam_size) {
  TranslatorOptions options;
  options.compile.backend = backend;
  options.beam_size = beam_size;
  options.max_words = kNewTokens;
  return options;
}

/// Compares translations of the first lines with those of generate().
void expect_output(const Translator& translator, const Case& c, const Json& expected,
                   std::size_t count, bool scored) {
  std::vector<std::string> input = lines(c.name, "input.txt");
  ASSERT_EQ(input.size(), expected.size());
  input.resize(count);
  const std::vector<Translation> translations = translator.translate(input);
  for (std::size_t i = 0; i < count; ++i) {
    const Hypothesis& best = translations[i].n_best[0].hypothesis;
    EXPECT_THAT(best.words, ElementsAreArray(words_of(expected[i].at("ids"), c.first, c.end)))
        << input[i];
    if (!scored) continue;
    EXPECT_NEAR(best.score, expected[i].at("score").get<double>(), kTolerance);
  }
}

TEST_P(HuggingFace, FindsTheWordsOfGreedySearch) {
  const std::string model = directory(GetParam().name);
  const Json beam1 = expected().at("beam1");
  expect_output(Translator(model, options("cpu", 1)), GetParam(), beam1, beam1.size(), false);
  expect_output(Translator(model, options("reference", 1)), GetParam(), beam1, 3, false);
}

TEST_P(HuggingFace, FindsTheWordsAndScoresOfBeamSearch) {
  const std::string model = directory(GetParam().name);
  const Json beam4 = expected().at("beam4");
  expect_output(Translator(model, options("cpu", 4)), GetParam(), beam4, beam4.size(), true);
  // The exact end of a search finds hypotheses that are at least as good.
  TranslatorOptions exact = options("cpu", 4);
  exact.early_stopping = EarlyStopping::never;
  const auto found = Translator(model, exact).translate(lines(GetParam().name, "input.txt"));
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_GE(found[i].n_best[0].hypothesis.score, beam4[i].at("score").get<double>() - kTolerance);
}

TEST_P(HuggingFace, GivesTheLogProbabilitiesOfTranslations) {
  const Scorer scorer(directory(GetParam().name));
  const Json forced = expected().at("forced");
  const auto scores =
      scorer.score(lines(GetParam().name, "input.txt"), lines(GetParam().name, "ref.txt"));
  ASSERT_EQ(scores.size(), forced.size());
  for (std::size_t i = 0; i < scores.size(); ++i) {
    const Json& log_probs = forced[i].at("logprobs");
    const std::size_t before = GetParam().first - 1;
    ASSERT_EQ(scores[i].word_scores.size(), log_probs.size() - before) << i;
    for (std::size_t w = 0; w < scores[i].word_scores.size(); ++w)
      EXPECT_NEAR(scores[i].word_scores[w], log_probs[before + w].get<double>(), kTolerance)
          << i << " " << w;
  }
}

TEST_P(HuggingFace, IsTheSameAsAModelDirectory) {
  const support::TemporaryFolder folder;
  const std::string path = folder / "model";
  const Model model = load_model(directory(GetParam().name));
  save_model_directory(model, model.vocabularies, path, {});
  const Model saved = load_model(path);
  EXPECT_EQ(saved.text, model.text);
  EXPECT_EQ(saved.decode, model.decode);
  const Translator ours(saved, options("cpu", 4)), theirs(model, options("cpu", 4));
  for (const std::string& line : lines(GetParam().name, "input.txt")) {
    const Translation a = ours.translate(line), b = theirs.translate(line);
    EXPECT_EQ(a.n_best[0].text, b.n_best[0].text);
    EXPECT_EQ(a.n_best[0].hypothesis.score, b.n_best[0].hypothesis.score);
  }
}

TEST_P(HuggingFace, PaddedTablesOfEmbeddingsAreNoReasonForANote) {
  EXPECT_THAT(Translator(directory(GetParam().name), options("cpu", 1)).notes(),
              Not(Contains(HasSubstr("is it the vocabulary"))));
}

TEST_P(HuggingFace, AlignsEachWordWithTheWordsOfTheText) {
  TranslatorOptions aligned = options("cpu", 2);
  aligned.alignment = true;
  const Translation translation =
      Translator(directory(GetParam().name), aligned).translate("Tom is my friend.");
  for (const std::vector<float>& weights : translation.n_best[0].hypothesis.alignment)
    EXPECT_EQ(weights.size(), translation.source_words);
}

/// A copy of a directory, to be damaged.
class Damaged : public ::testing::Test {
 protected:
  void SetUp() override { copy("marian"); }

  void copy(const std::string& name) {
    path_ = folder_ / name;
    fs::copy(directory(name), path_);
    for (const auto& entry : fs::directory_iterator(path_))
      fs::permissions(entry, fs::perms::owner_write, fs::perm_options::add);
  }

  std::string file(const std::string& name) const { return path_ + "/" + name; }

  void edit(const std::string& name, const std::string& key, const Json& value) {
    Json json = Json::parse(read_file(file(name)));
    json[key] = value;
    write_file_atomically(file(name), json.dump());
  }

  auto load() {
    return [this] { load_model(path_); };
  }

  support::TemporaryFolder folder_;
  std::string path_;
};

TEST_F(Damaged, AlignmentsAreOfTheHeadsThatItsConfigurationNames) {
  copy("m2m100");
  const auto weights_of = [this](const Json& heads) {
    edit("config.json", "alignment_layer", 0);
    edit("config.json", "alignment_heads", heads);
    TranslatorOptions aligned = options("cpu", 1);
    aligned.alignment = true;
    const Translation translation = Translator(path_, aligned).translate("Tom is my friend.");
    std::vector<float> weights;
    for (const auto& word : translation.n_best[0].hypothesis.alignment)
      weights.insert(weights.end(), word.begin(), word.end());
    return weights;
  };
  const std::vector<float> first = weights_of({0}), third = weights_of({2});
  const std::vector<float> both = weights_of(Json::array({0, 2}));
  EXPECT_NE(first, third);
  ASSERT_EQ(both.size(), first.size());
  for (std::size_t i = 0; i < both.size(); ++i)
    EXPECT_NEAR(both[i], (first[i] + third[i]) / 2, 1e-6);
  EXPECT_NE(weights_of(Json::array()), both) << "the mean of all";
  edit("config.json", "alignment_heads", Json::array({0, 99}));
  EXPECT_THAT(load(),
              ThrowsMessage<Error>(HasSubstr("'alignment_heads' names 99, but the decoder")));
  edit("config.json", "alignment_layer", 9);
  EXPECT_THAT(load(), ThrowsMessage<Error>(HasSubstr("'alignment_layer' names 9")));
}

TEST_F(Damaged, WeightsAreNamed) {
  fs::rename(file("model.safetensors"), file("pytorch_model.bin"));
  EXPECT_THAT(load(), ThrowsMessage<Error>(AllOf(HasSubstr("pytorch_model.bin: weights as a"),
                                                 HasSubstr("save_pretrained"))));
  fs::remove(file("pytorch_model.bin"));
  EXPECT_THAT(load(), ThrowsMessage<Error>(HasSubstr("neither model.safetensors nor")));
}

TEST_F(Damaged, SettingsAreRefusedByNameAndValue) {
  edit("generation_config.json", "decoder_start_token_id", 1072);
  EXPECT_THAT(load(), ThrowsMessage<Error>(HasSubstr(
                          "'decoder_start_token_id' is 1072, but the table of embeddings has 1072 "
                          "rows")));
  edit("generation_config.json", "decoder_start_token_id", 1071);
  edit("config.json", "activation_function", "mish");
  EXPECT_THAT(load(), ThrowsMessage<Error>(HasSubstr("activation function 'mish' is not known")));
  edit("config.json", "activation_function", "swish");
  edit("config.json", "decoder_layers", 3);
  EXPECT_THAT(load(), ThrowsMessage<Error>(HasSubstr("model.decoder.layers.2")));
  edit("config.json", "decoder_layers", 1);
  EXPECT_THAT(load(), ThrowsMessage<Error>(HasSubstr("not used by the architecture")));
  edit("config.json", "architectures", {"WhisperForConditionalGeneration"});
  EXPECT_THAT(load(), ThrowsMessage<Error>(AllOf(
                          HasSubstr("'WhisperForConditionalGeneration' (the family 'marian')"),
                          HasSubstr("M2M100ForConditionalGeneration"))));
}

TEST_F(Damaged, SizesAreRefusedByNameAndValue) {
  const auto refused = [this](const std::string& name, const Json& value, const char* message) {
    const std::string before = read_file(file("config.json"));
    edit("config.json", name, value);
    EXPECT_THAT(load(), ThrowsMessage<Error>(AllOf(HasSubstr(name), HasSubstr(message))));
    write_file_atomically(file("config.json"), before);
  };
  refused("d_model", 1000, "is 1000, but the table of embeddings has");
  refused("max_position_embeddings", 1'000'000'000, "1000000000");
  refused("max_position_embeddings", -1, "-1");
  refused("encoder_layers", 0, "is 0; it must be a whole number from 1 to 1000");
  refused("decoder_layers", 1'000'000'000, "from 1 to 1000");
  refused("encoder_attention_heads", 0, "from 1 to 1000");
  refused("decoder_attention_heads", 7, "is not a multiple of");
  refused("decoder_ffn_dim", -8, "is -8");
  refused("activation_function", Json::array({"relu"}), "must be a single value");
  refused("max_length", std::numeric_limits<std::int64_t>::min(), "must be a whole number from");
  copy("t5");
  for (const char* name : {"d_model", "num_heads", "d_kv", "d_ff", "num_layers"})
    refused(name, 0, "is 0; it must be a whole number from 1");
  refused("d_kv", std::numeric_limits<std::int64_t>::max(), "from 1 to 1000000");
  for (const char* key : {"relative_attention_num_buckets", "relative_attention_max_distance"})
    for (const std::int64_t value : {0, 1'000'000'000}) {
      edit("config.json", key, value);
      EXPECT_THAT(load(), ::testing::Throws<Error>()) << key << " " << value;
    }
}

TEST_F(Damaged, TablesOfEmbeddingsAreMatricesOfFloats) {
  TensorMap weights = read_safetensors(file("model.safetensors"));
  Tensor& table = weights.at("model.shared.weight");
  const Tensor whole = table;
  table = whole.reshaped({whole.size()});
  write_safetensors(file("model.safetensors"), weights, {});
  EXPECT_THAT(load(), ThrowsMessage<Error>(HasSubstr("it must have a row for each word")));
  table = Tensor(DType::i32, whole.shape());
  write_safetensors(file("model.safetensors"), weights, {});
  EXPECT_THAT(load(), ThrowsMessage<Error>(HasSubstr("weights must be floating-point")));
}

TEST_F(Damaged, ShardsAreFilesOfTheDirectory) {
  fs::remove(file("model.safetensors"));
  for (const char* name : {"../model.safetensors", "a\nb.safetensors", "model.bin", ""}) {
    const Json index = {{"weight_map", {{"model.shared.weight", name}}}};
    write_file_atomically(file("model.safetensors.index.json"), index.dump());
    EXPECT_THAT(load(), ThrowsMessage<Error>(HasSubstr("must be a .safetensors file of the")));
  }
}

TEST_F(Damaged, NumbersOfWordsBeyondThoseOfASearchAreTheMost) {
  edit("config.json", "max_position_embeddings", 100'000);
  edit("generation_config.json", "max_length", 1'000'000'000);
  EXPECT_EQ(load_model(path_).decode.max_words, 65'536U);
}

TEST_F(Damaged, SettingsOfTheSearchAreRefusedByNameAndValue) {
  edit("generation_config.json", "num_beams", 0);
  EXPECT_THAT(load(), ThrowsMessage<Error>(HasSubstr("num_beams")));
  edit("generation_config.json", "num_beams", 2);
  edit("generation_config.json", "early_stopping", 3);
  EXPECT_THAT(load(), ThrowsMessage<Error>(HasSubstr("must be true, false or \"never\"")));
  edit("generation_config.json", "early_stopping", true);
  for (const Json& words : {Json(3), Json::array(), Json::array({1, "x"}), Json::array({-1})}) {
    edit("generation_config.json", "bad_words_ids", Json::array({words}));
    EXPECT_THAT(load(), ThrowsMessage<Error>(HasSubstr("'bad_words_ids'"))) << words;
  }
  edit("generation_config.json", "bad_words_ids", {{3}, {4, 0}, {0}});  // 0 is the end symbol
  edit("generation_config.json", "renormalize_logits", true);
  const Model model = load_model(path_);
  EXPECT_THAT(model.text.suppressed, ::testing::ElementsAre(3));
  EXPECT_THAT(model.text.forbidden, ::testing::ElementsAre(std::vector<std::int32_t>{4, 0}));
  EXPECT_EQ(model.decode.beam_size, 2);
  EXPECT_EQ(model.decode.early_stopping, EarlyStopping::first);
  EXPECT_EQ(model.decode.renormalize, true);
}

TEST_F(Damaged, PiecesNameTheLanguagesOfMadlad) {
  copy("t5");
  Json tokenizer = Json::parse(read_file(file("tokenizer.json")));
  const char* pieces[] = {"<2de>", "<2zh_Latn>", "<2>", "<24>"};
  for (int i = 0; i < 4; ++i) {
    const int id = 50 + i;
    tokenizer["model"]["vocab"][id][0] = pieces[i];
    tokenizer["added_tokens"].push_back({{"id", id},
                                         {"content", pieces[i]},
                                         {"single_word", false},
                                         {"lstrip", false},
                                         {"rstrip", false},
                                         {"normalized", false},
                                         {"special", false}});
  }
  write_file_atomically(file("tokenizer.json"), tokenizer.dump());
  const Model model = load_model(path_);
  EXPECT_THAT(model.text.languages,
              ::testing::ElementsAre(Language{"de", "<2de>"}, Language{"zh_Latn", "<2zh_Latn>"}));
  const auto translation = [&](const std::string& target, const std::string& line) {
    TranslatorOptions stated = options("cpu", 1);
    stated.target_language = target;
    return Translator(model, stated).translate(line).n_best[0].hypothesis;
  };
  EXPECT_EQ(translation("de", "Tom.").score, translation("", "<2de> Tom.").score);
  EXPECT_EQ(translation("zh", "Tom.").score, translation("", "<2zh_Latn> Tom.").score);
  EXPECT_NE(translation("de", "Tom.").score, translation("", "Tom.").score);
  EXPECT_THAT([&] { translation("fr", "Tom."); },
              ThrowsMessage<Error>(HasSubstr("the model has no language 'fr'")));
  TranslatorOptions half = options("cpu", 1);
  half.source_language = "de";
  EXPECT_THAT([&] { Translator(model, half); },
              ThrowsMessage<Error>(HasSubstr("needs a target-language, such as 'de'")));
}

TEST_F(Damaged, ShardsGiveTheSameModel) {
  const TensorMap weights = read_safetensors(file("model.safetensors"));
  std::map<std::string, TensorMap> shards;
  Json index;
  std::size_t at = 0;
  for (const auto& [name, tensor] : weights) {
    const std::string shard = at++ % 2 == 0 ? "model-1.safetensors" : "model-2.safetensors";
    shards[shard].emplace(name, tensor);
    index["weight_map"][name] = shard;
  }
  for (const auto& [shard, tensors] : shards) write_safetensors(file(shard), tensors, {});
  write_file_atomically(file("model.safetensors.index.json"), index.dump());
  const Model whole = load_model(path_);
  fs::remove(file("model.safetensors"));
  const Model sharded = load_model(path_);
  EXPECT_EQ(sharded.weights.size(), whole.weights.size());
  index["weight_map"]["lm_head.bias"] = "model-1.safetensors";
  write_file_atomically(file("model.safetensors.index.json"), index.dump());
  EXPECT_THAT(load(), ThrowsMessage<Error>(HasSubstr("'lm_head.bias'")));
}

TEST_F(Damaged, CopiesOfSharedTablesAreOne) {
  TensorMap weights = read_safetensors(file("model.safetensors"));
  for (const char* name :
       {"lm_head.weight", "model.encoder.embed_tokens.weight", "model.decoder.embed_tokens.weight"})
    weights.emplace(name, weights.at("model.shared.weight"));
  write_safetensors(file("model.safetensors"), weights, {});
  EXPECT_EQ(load_model(path_).weights.count("lm_head.weight"), 0U);
}

// --- Weights in 16 bits ---

class Halves : public Damaged, public ::testing::WithParamInterface<Case> {
 protected:
  void SetUp() override { copy(GetParam().name); }

  /// Stores each weight as `convert` makes it.
  template <typename Convert>
  void store(const Convert& convert) {
    TensorMap weights = read_safetensors(directory(GetParam().name) + "/model.safetensors");
    for (auto& [name, tensor] : weights) tensor = convert(name, tensor);
    fs::remove(file("model.safetensors"));
    write_safetensors(file("model.safetensors"), weights, {});
  }

  /// The best translations of some lines and their scores.
  std::vector<std::string> translations(const Model& model, std::optional<Precision> precision,
                                        const std::string& backend = "cpu") const {
    TranslatorOptions wanted = options(backend, 4);
    wanted.compile.precision = precision;
    std::vector<std::string> input = lines(GetParam().name, "input.txt"), found;
    input.resize(3);
    for (const Translation& translation : Translator(model, wanted).translate(input))
      found.push_back(fmt::format("{} {:a}", translation.n_best[0].text,
                                  translation.n_best[0].hypothesis.score));
    return found;
  }
};

INSTANTIATE_TEST_SUITE_P(Models, Halves,
                         ::testing::Values(Case{"marian", 1, 0}, Case{"m2m100", 2, 2},
                                           Case{"t5", 1, 1}),
                         [](const auto& tested) { return tested.param.name; });

TEST_P(Halves, AreReadWhereTheyAreWithTheBytesOfTheirFloats) {
  for (const DType dtype : {DType::bf16, DType::f16}) {
    const auto narrow = [&](const Tensor& tensor) {
      return dtype == DType::bf16 ? tensor.to_bf16() : tensor.to_f16();
    };
    store([&](const auto&, const Tensor& tensor) { return narrow(tensor).to_f32(); });
    const Model floats = load_model(path_);
    const std::vector<std::string> in_fp32 = translations(floats, Precision::fp32);
    const std::vector<std::string> in_int8 = translations(floats, Precision::int8);
    store([&](const auto&, const Tensor& tensor) { return narrow(tensor); });
    const Model model = load_model(path_);
    for (const auto& [name, tensor] : model.weights) {
      if (tensor.shape().size() > 1 && !tensor.mapped_bytes().empty()) {
        EXPECT_EQ(tensor.dtype(), dtype) << name;
      }
    }
    EXPECT_EQ(model.decode.precision,
              dtype == DType::bf16 ? std::optional(Precision::bf16) : std::nullopt);
    EXPECT_EQ(translations(model, Precision::fp32), in_fp32);
    EXPECT_EQ(translations(model, std::nullopt), in_fp32) << "the CPU rounds nothing";
    EXPECT_EQ(translations(model, Precision::int8), in_int8);

    const std::string saved = folder_ / "saved";
    save_model_directory(model, model.vocabularies, saved, {});
    const Model again = load_model(saved);
    EXPECT_EQ(again.decode.precision, model.decode.precision);
    EXPECT_EQ(translations(again, std::nullopt), in_fp32);
  }
}

TEST_P(Halves, AmongFloatsStateNoPrecision) {
  bool is_first = true;
  store([&](const auto&, const Tensor& tensor) {
    const bool stays = is_first && tensor.shape().size() == 2;
    if (stays) is_first = false;
    return stays ? tensor : tensor.to_bf16();
  });
  EXPECT_EQ(load_model(path_).decode.precision, std::nullopt);
}

TEST_F(Damaged, LanguagesHaveToBeThoseOfTheModel) {
  copy("m2m100");
  TranslatorOptions spoken;
  spoken.target_language = "xx";
  EXPECT_THAT([&] { Translator(path_, spoken); },
              ThrowsMessage<Error>(AllOf(HasSubstr("no language 'xx'"), HasSubstr("100"))));
  spoken.target_language = "de";
  spoken.source_language = "en";
  EXPECT_EQ(Translator(path_, spoken).translate("Tom is here.").n_best[0].text,
            Translator(path_).translate("Tom is here.").n_best[0].text);
  edit("tokenizer_config.json", "tgt_lang", nullptr);
  EXPECT_THAT([&] { Translator translator(path_); },
              ThrowsMessage<Error>(HasSubstr("state a target-language")));
}

TEST_F(Damaged, LanguagesOfAPairAreThoseOfItsTokenizer) {
  EXPECT_EQ(load_model(path_).text.source_language, "en");
  EXPECT_EQ(load_model(path_).text.target_language, "de");
  TranslatorOptions spoken;
  spoken.source_language = "en";
  spoken.target_language = "de";
  EXPECT_EQ(Translator(path_, spoken).translate("Tom is here.").text(),
            Translator(path_).translate("Tom is here.").text());
  spoken.target_language = "fr";
  EXPECT_THAT([&] { Translator(path_, spoken); },
              ThrowsMessage<Error>(HasSubstr("from 'en' to 'de', not from 'en' to 'fr'")));
  edit("tokenizer_config.json", "source_lang", "eng");
  edit("tokenizer_config.json", "target_lang", "ROMANCE");
  EXPECT_EQ(load_model(path_).text.source_language, "eng");
  EXPECT_EQ(load_model(path_).text.target_language, "") << "a group of languages";
}

TEST_F(Damaged, LanguagesOfAPairHaveOtherCodes) {
  const auto takes = [this](const std::string& code) {
    TranslatorOptions spoken;
    spoken.target_language = code;
    try {
      const Translator translator(path_, spoken);
      return true;
    } catch (const Error&) {
      return false;
    }
  };
  for (const char* code : {"de", "deu", "DE", "de_AT", "deu_Latn"})
    EXPECT_TRUE(takes(code)) << code;
  for (const char* code : {"fr", "fra_Latn", "nl"}) EXPECT_FALSE(takes(code)) << code;
  edit("tokenizer_config.json", "target_lang", "zh_Hant");
  EXPECT_TRUE(takes("zh"));
  EXPECT_FALSE(takes("zh_Hans")) << "another script";
}

TEST_F(Damaged, LanguagesAreRefusedByAModelWithoutAny) {
  edit("tokenizer_config.json", "source_lang", nullptr);
  edit("tokenizer_config.json", "target_lang", nullptr);
  TranslatorOptions spoken;
  spoken.target_language = "de";
  EXPECT_THAT([&] { Translator(path_, spoken); },
              ThrowsMessage<Error>(HasSubstr("does not translate between several languages")));
}

}  // namespace
}  // namespace fuselage::huggingface_test
