#include "fuselage/models/directory/model_directory.h"

#include <gmock/gmock.h>

#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>

#include "base/files/file.h"
#include "decoding/lines/vocabulary_pair.h"
#include "fuselage/base/error.h"
#include "fuselage/base/quantized.h"
#include "fuselage/models/formats/safetensors.h"
#include "fuselage/ops/builder.h"
#include "fuselage/ops/precision/quantize.h"
#include "graph/traversal.h"
#include "models/directory/manifest.h"
#include "tests/decoding/support.h"

namespace fuselage {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class ModelDirectory : public ::testing::Test {
 protected:
  void SetUp() override {
    model_.decode = {.beam_size = 6, .maxi_batch_sort = MaxiBatchSort::src};
    save_model_directory(model_, support::vocabularies(), path_);
  }

  void replace(const std::string& file, const std::string& from, const std::string& to) const {
    std::string text = read_file(path_ + "/" + file);
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << text;
    write(file, text.replace(at, from.size(), to));
  }

  /// Puts other content into a file, which is then not checked.
  void write(const std::string& file, const std::string& content) const {
    write_file_atomically(path_ + "/" + file, content);
    std::filesystem::remove(path_ + "/SHA256SUMS");
  }

  void edit_weights(const std::function<void(TensorMap&)>& edit) const {
    TensorMap tensors = read_safetensors(path_ + "/weights.safetensors");
    edit(tensors);
    write_safetensors(path_ + "/weights.safetensors", tensors, {});
    std::filesystem::remove(path_ + "/SHA256SUMS");
  }

  template <typename Matcher>
  void expect_refused(Matcher message) const {
    EXPECT_THAT([&] { load_model(path_); }, ThrowsMessage<Error>(message));
  }

  support::TemporaryFolder folder_;
  const std::string path_ = folder_ / "new/model";
  Model model_ = load_model(support::small_model());
};

TEST_F(ModelDirectory, HoldsTheSameModel) {
  const Model loaded = load_model(path_);
  EXPECT_TRUE(same_graph(loaded.graph, model_.graph));
  EXPECT_EQ(loaded.graph.name(), "model.npz");
  EXPECT_EQ(loaded.right_left, model_.right_left);
  EXPECT_THAT(loaded.vocabularies, ElementsAre(path_ + "/vocab.yml", path_ + "/vocab.yml"));
  EXPECT_EQ(loaded.decode, model_.decode);
  ASSERT_EQ(loaded.weights.size(), model_.weights.size());
  for (const auto& [name, tensor] : model_.weights) {
    const Tensor& read = loaded.weights.at(name);
    ASSERT_EQ(read.shape(), tensor.shape()) << name;
    EXPECT_EQ(std::memcmp(read.bytes(), tensor.bytes(), tensor.size_bytes()), 0) << name;
  }
}

TEST_F(ModelDirectory, WidensHalfPrecision) {
  const std::string half = folder_ / "half";
  save_model_directory(model_, support::vocabularies(), half, {.half = true});
  EXPECT_LT(read_file(half + "/weights.safetensors").size(),
            read_file(path_ + "/weights.safetensors").size() * 6 / 10);
  for (const auto& [name, tensor] : load_model(half).weights) {
    ASSERT_EQ(tensor.dtype(), DType::f32);
    const float original = model_.weights.at(name).data<float>()[0];
    EXPECT_EQ(tensor.data<float>()[0], half_to_float(float_to_half(original)));
  }
}

TEST_F(ModelDirectory, RefusesHalfPrecisionThatOverflows) {
  Model model = model_;
  Tensor large(DType::f32, model.weights.begin()->second.shape());
  large.mutable_data<float>()[0] = 1e6F;
  model.weights.begin()->second = large;
  EXPECT_THAT([&] { save_model_directory(model, {}, folder_ / "half", {.half = true}); },
              ThrowsMessage<Error>(HasSubstr("holds 1000000")));
}

TEST_F(ModelDirectory, KeepsVocabulariesOfOneNameApart) {
  const std::string other = folder_ / "vocab.yml";
  write_file_atomically(other, read_file(support::vocabularies()[0]));
  const std::string path = folder_ / "two";
  save_model_directory(model_, {support::vocabularies()[0], other}, path);
  EXPECT_THAT(load_model(path).vocabularies,
              ElementsAre(path + "/vocab.yml", path + "/2.vocab.yml"));
}

TEST_F(ModelDirectory, RefusesAMissingWeight) {
  edit_weights([](TensorMap& tensors) {
    tensors.emplace("Wembb", tensors.at("Wemb"));
    tensors.erase("Wemb");
  });
  expect_refused(AllOf(HasSubstr("weights.safetensors"), HasSubstr("'Wemb'"),
                       HasSubstr("did you mean 'Wembb'")));
}

TEST_F(ModelDirectory, RefusesALeftOverWeight) {
  edit_weights([](TensorMap& tensors) { tensors.emplace("extra", tensors.at("Wemb")); });
  expect_refused(AllOf(HasSubstr("1 weight is no parameter"), HasSubstr("extra")));
}

TEST_F(ModelDirectory, RefusesAWeightOfAnotherShape) {
  edit_weights([](TensorMap& tensors) { tensors.at("Wemb") = Tensor(DType::f32, {3, 4}); });
  expect_refused(AllOf(HasSubstr("[3, 4]"), HasSubstr("[1000, 32]")));
}

TEST_F(ModelDirectory, RefusesUnknownKeys) {
  replace("config.json", "\"right-left\"", "\"rigth-left\"");
  expect_refused(AllOf(HasSubstr("config.json"), HasSubstr("'rigth-left'; did you mean")));
  EXPECT_FALSE(load_model(path_, {.ignore_unknown = true}).right_left);
}

TEST_F(ModelDirectory, RefusesUnknownDecodeOptions) {
  replace("config.json", "\"beam-size\"", "\"beem-size\"");
  expect_refused(HasSubstr("did you mean 'beam-size'"));
}

TEST_F(ModelDirectory, RefusesAnotherVersion) {
  replace("config.json", "\"fuselage-model\": 1", "\"fuselage-model\": 2");
  expect_refused(AllOf(HasSubstr("'2'"), HasSubstr("only 1")));
}

TEST_F(ModelDirectory, RefusesVocabulariesOutsideOfIt) {
  replace("config.json", "\"vocab.yml\"", "\"../vocab.yml\"");
  expect_refused(HasSubstr("must be a file in the model directory"));
}

TEST_F(ModelDirectory, RefusesWrongTypes) {
  replace("config.json", "\"right-left\": false", "\"right-left\": \"no\"");
  expect_refused(HasSubstr("'right-left' must be true or false"));
}

TEST_F(ModelDirectory, RefusesDamagedFiles) {
  write("config.json", "{\"fuselage-model\": 1");
  expect_refused(HasSubstr("config.json: invalid JSON at byte 21"));
  write("config.json", "[]");
  expect_refused(HasSubstr("config.json: this is no JSON object"));
  write("config.json", "{\"fuselage-model\": 1, \"name\": \"a\", \"name\": \"b\"}");
  expect_refused(HasSubstr("config.json: the key 'name' is given twice"));
}

TEST_F(ModelDirectory, NamesTheLineOfADamagedGraph) {
  replace("graph.ir", "matmul(", "matmull(");
  expect_refused(AllOf(HasSubstr("graph.ir:"), HasSubstr("matmul")));
}

TEST_F(ModelDirectory, BoundsItsTexts) {
  write("graph.ir", read_file(path_ + "/graph.ir") + std::string(std::size_t{4} << 20, '\n'));
  expect_refused(AllOf(HasSubstr("graph.ir"), HasSubstr("more than 4194304")));
  write("config.json", std::string((std::size_t{1} << 20) + 1, ' '));
  expect_refused(AllOf(HasSubstr("config.json"), HasSubstr("more than 1048576")));
}

TEST_F(ModelDirectory, RefusesWeightsThatAreNotFinite) {
  edit_weights([](TensorMap& tensors) {
    tensors.at("Wemb").mutable_data<float>()[7] = std::numeric_limits<float>::quiet_NaN();
  });
  expect_refused(AllOf(HasSubstr(path_), HasSubstr("'Wemb' holds nan at element 7")));
}

TEST_F(ModelDirectory, ListsTheDigestsOfItsFiles) {
  const Manifest manifest = parse_manifest(read_file(path_ + "/SHA256SUMS"), "SHA256SUMS");
  std::vector<std::string> names;
  for (const auto& [name, digest] : manifest) {
    names.push_back(name);
    EXPECT_EQ(digest, sha256(read_file(path_ + "/" + name))) << name;
  }
  EXPECT_THAT(names, ElementsAre("config.json", "graph.ir", "vocab.yml", "weights.safetensors"));
  EXPECT_THAT(load_model(path_).notes, ::testing::IsEmpty());
}

TEST_F(ModelDirectory, RefusesFilesThatDiffer) {
  for (const char* file : {"config.json", "graph.ir", "weights.safetensors"}) {
    const std::string path = path_ + "/" + file;
    const std::string content = read_file(path);
    std::string changed = content;
    changed.back() ^= 1;
    write_file_atomically(path, changed);
    expect_refused(AllOf(HasSubstr(path + ": its SHA-256 is"), HasSubstr("SHA256SUMS lists")));
    write_file_atomically(path, content);
  }
  load_model(path_);
}

TEST_F(ModelDirectory, RefusesAVocabularyThatDiffersWhenItIsRead) {
  write_file_atomically(path_ + "/vocab.yml", read_file(path_ + "/vocab.yml") + "\n");
  const auto load = [&](const LoadOptions& options) {
    load_vocabulary_pair(load_model(path_, options), {});
  };
  EXPECT_THAT([&] { load({}); }, ThrowsMessage<Error>(HasSubstr("vocab.yml: its SHA-256 is")));
  load({.verify = false});
}

/// A model directory with a shortlist.
class ShortlistInDirectory : public ModelDirectory {
 protected:
  void SetUp() override {
    write_file_atomically(list_, "la a 0.5\n");
    model_.shortlist = {.path = list_, .limits = {.first = 20, .best = 10, .threshold = 0.25}};
    ModelDirectory::SetUp();
  }

  const std::string list_ = folder_ / "lex.s2t";
};

TEST_F(ShortlistInDirectory, IsCopiedWithItsLimits) {
  const ShortlistOptions shortlist = load_model(path_).shortlist;
  EXPECT_EQ(shortlist.path, path_ + "/lex.s2t");
  EXPECT_EQ(shortlist.limits, model_.shortlist.limits);
  EXPECT_EQ(read_file(shortlist.path), read_file(list_));
  const std::string again = folder_ / "again";
  save_model_directory(load_model(path_), support::vocabularies(), again);
  EXPECT_EQ(read_file(again + "/SHA256SUMS"), read_file(path_ + "/SHA256SUMS"));
}

TEST_F(ShortlistInDirectory, HasTheValuesOfTheOption) {
  const auto values_of = [&](const ShortlistOptions& shortlist) {
    Model model = model_;
    model.shortlist = shortlist;
    const std::string path = folder_ / "other";
    save_model_directory(model, support::vocabularies(), path);
    const ShortlistOptions loaded = load_model(path).shortlist;
    EXPECT_EQ(loaded.limits, shortlist.limits);
    EXPECT_EQ(loaded.checksum, shortlist.checksum);
    const std::string text = read_file(path + "/config.json");
    const std::size_t begin = text.find('[', text.find("\"shortlist\""));
    std::string values = text.substr(begin, text.find(']', begin) + 1 - begin);
    std::erase_if(values, [](char c) { return c == ' ' || c == '\n'; });
    return values;
  };
  EXPECT_EQ(values_of({.path = list_}), R"(["lex.s2t"])");
  EXPECT_EQ(values_of({.path = list_, .checksum = false}), R"(["lex.s2t",false])");
  EXPECT_EQ(values_of({.path = list_, .limits = {.first = 5}}), R"(["lex.s2t",5,100])");
  EXPECT_EQ(values_of(model_.shortlist), R"(["lex.s2t",20,10,0.25])");
}

TEST_F(ShortlistInDirectory, RefusesAnotherFile) {
  write_file_atomically(path_ + "/lex.s2t", "la a 0.25\n");
  expect_refused(HasSubstr("lex.s2t: its SHA-256 is"));
  std::filesystem::remove(path_ + "/lex.s2t");
  expect_refused(HasSubstr("lex.s2t"));
}

TEST_F(ShortlistInDirectory, RefusesOtherValues) {
  replace("config.json", "\"lex.s2t\"", "\"../lex.s2t\"");
  expect_refused(HasSubstr("shortlist '../lex.s2t' must be a file in the model directory"));
  replace("config.json", "\"../lex.s2t\"", "7");
  expect_refused(HasSubstr("shortlist: a list of a file name and its limits is needed"));
  replace("config.json", "7", "\"lex.s2t\"");
  replace("config.json", "20", "\"x\"");
  expect_refused(HasSubstr("shortlist: FIRST must be a number from 0 on, not 'x'"));
  replace("config.json", "\"x\"", "{}");
  expect_refused(HasSubstr("shortlist: a limit must be a number, not"));
}

TEST_F(ModelDirectory, RefusesAListThatIsNotComplete) {
  const std::string list = read_file(path_ + "/SHA256SUMS");
  const auto write_list = [&](const std::string& text) {
    write_file_atomically(path_ + "/SHA256SUMS", text);
  };
  for (const auto& [name, digest] : parse_manifest(list, "")) {
    const std::string line = print_manifest({{name, digest}});
    write_list(std::string(list).erase(list.find(line), line.size()));
    expect_refused(HasSubstr("SHA256SUMS: it does not list '" + name + "'"));
  }
  write_list(list + print_manifest({{"more", sha256("")}}));
  expect_refused(HasSubstr("SHA256SUMS: it lists 'more', which is missing"));
  write_file_atomically(path_ + "/more", "");
  load_model(path_);
  write_file_atomically(path_ + "/more", "x");
  expect_refused(HasSubstr("more: its SHA-256 is"));
  write_list(list + print_manifest({{"../more", sha256("")}}));
  expect_refused(HasSubstr("'../more' must be another file in the model directory"));
}

TEST_F(ModelDirectory, TellsThatNothingWasChecked) {
  std::filesystem::remove(path_ + "/SHA256SUMS");
  const Model model = load_model(path_);
  EXPECT_THAT(model.notes, ElementsAre(path_ + " has no SHA256SUMS, so nothing was checked"));
  EXPECT_THAT(load_vocabulary_pair(model, {}).notes, ElementsAre(model.notes[0]));
  EXPECT_THAT(load_model(path_, {.verify = false}).notes, ::testing::IsEmpty());
}

TEST_F(ModelDirectory, ReplacesOnlyAModelDirectory) {
  const auto save = [&] { save_model_directory(model_, support::vocabularies(), path_); };
  model_.decode = {};
  save();
  EXPECT_EQ(load_model(path_).decode, DecodeDefaults{});
  write_file_atomically(path_ + "/README.md", "");
  EXPECT_THAT(save, ThrowsMessage<Error>(HasSubstr("'README.md', which is no part of its model")));
  std::filesystem::remove(path_ + "/config.json");
  EXPECT_THAT(save, ThrowsMessage<Error>(HasSubstr("holds files but no model")));
  EXPECT_EQ(read_file(path_ + "/README.md"), "");
}

TEST_F(ModelDirectory, LeavesNothingWhenItCannotBeWritten) {
  EXPECT_THROW(save_model_directory(model_, {folder_ / "none"}, folder_ / "a/b"), Error);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a"));
  const std::string reserved = folder_ / "graph.ir";
  write_file_atomically(reserved, "x");
  EXPECT_THAT(
      [&] {
        save_model_directory(model_, {reserved, reserved}, folder_ / "a");
      },
      ThrowsMessage<Error>(HasSubstr("cannot be called graph.ir")));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "a"));
}

/// A model with a matrix of which each column is quantized.
class QuantizedModelDirectory : public ModelDirectory {
 protected:
  void SetUp() override {
    Builder builder("quantized");
    const DomainId words = builder.graph().add_vocabulary("words", 2);
    const Expr table = builder.param("E", {3}, words, DType::qint8);
    builder.output("logits", builder.add(op::Dequantize{}, {table}, CodeLocation::current()));
    builder.output("w",
                   dot(builder.param("x", {3}), builder.param("W", {4, 3}, {0}, DType::qint16)));
    builder.output("l",
                   dot(builder.param("x", {3}), builder.param("L", {5, 3}, {0}, DType::qlog4)));
    builder.output("b", dot(builder.param("x", {3}), builder.param("B", {3, 2}, {0}, DType::bf16)));
    quantized_.graph = builder.take();
    quantized_.weights = {
        {"E", quantized({}, numbers({2, 3}))},
        {"W", quantized({.to = DType::qint16, .largest = 32767}, numbers({4, 3}))},
        {"L", quantized(kLog4, numbers({5, 3}))},
        {"B", numbers({3, 2}).to_bf16()},
        {"x", numbers({3})}};
    save_model_directory(quantized_, {}, path_);
  }

  static Tensor numbers(std::vector<std::int64_t> shape) {
    Tensor tensor(DType::f32, std::move(shape));
    for (std::int64_t i = 0; i < tensor.size(); ++i)
      tensor.mutable_data<float>()[i] = static_cast<float>(i * i) - 7.5F;
    return tensor;
  }

  static constexpr Quantizer kLog4{.to = DType::qlog4, .largest = 128};
  Model quantized_;
};

TEST_F(QuantizedModelDirectory, HoldsIntegersBesideTheirScales) {
  const TensorMap stored = read_safetensors(path_ + "/weights.safetensors");
  ASSERT_EQ(stored.size(), 8u);
  EXPECT_EQ(stored.at("E").dtype(), DType::i8);
  EXPECT_EQ(stored.at("W").dtype(), DType::i16);
  EXPECT_THAT(stored.at("W").shape(), ElementsAre(4, 3));
  EXPECT_THAT(stored.at("W.scale").shape(), ElementsAre(4));
  EXPECT_EQ(stored.at("W.scale").dtype(), DType::f32);
  EXPECT_EQ(stored.at("E").data<std::int8_t>()[5], 127);
  EXPECT_FLOAT_EQ(stored.at("E.scale").data<float>()[1], 17.5F / 127);
  EXPECT_EQ(stored.at("B").dtype(), DType::bf16);
}

TEST_F(QuantizedModelDirectory, PacksTwoNibblesAByteBesideShortScales) {
  const TensorMap stored = read_safetensors(path_ + "/weights.safetensors");
  EXPECT_EQ(stored.at("L").dtype(), DType::u8);
  EXPECT_THAT(stored.at("L").shape(), ElementsAre(5, 2));
  EXPECT_EQ(stored.at("L.scale").dtype(), DType::bf16);
  EXPECT_THAT(stored.at("L.scale").shape(), ElementsAre(5));
  // The last row is 136.5, 161.5, 188.5, of which the first is nearer to half of the largest level.
  EXPECT_EQ(stored.at("L").data<std::uint8_t>()[8], 0x76);
  EXPECT_EQ(stored.at("L").data<std::uint8_t>()[9], 0x07);
}

TEST_F(QuantizedModelDirectory, KeepsScalesThatBfloat16DoesNotHold) {
  Quantizer quantizer = kLog4;
  quantizer.scale = 0.3F;
  quantized_.weights["L"] = quantized(quantizer, numbers({5, 3}));
  save_model_directory(quantized_, {}, path_);
  EXPECT_EQ(read_safetensors(path_ + "/weights.safetensors").at("L.scale").dtype(), DType::f32);
  const Tensor loaded = load_model(path_).weights.at("L");
  EXPECT_EQ(std::memcmp(loaded.bytes(), quantized_.weights.at("L").bytes(), loaded.size_bytes()),
            0);
}

/// A number takes its bits, and a column of 256 another 16.
TEST_F(QuantizedModelDirectory, HasTheSizeOfItsBits) {
  const auto bytes = [&](int bits) {
    Builder builder("matrix");
    builder.output(
        "y", dot(builder.param("x", {1, 256}), builder.param("W", {4096, 256}, {0}, DType::qlog4)));
    Model model{.graph = builder.take()};
    Tensor matrix(DType::f32, {4096, 256});
    for (std::int64_t i = 0; i < matrix.size(); ++i)
      matrix.mutable_data<float>()[i] = static_cast<float>(i * 7919 % 1009) - 504.3F;
    Quantizer quantizer = kLog4;
    quantizer.bits = bits;
    model.weights = {{"x", Tensor(DType::f32, {1, 256})}, {"W", quantized(quantizer, matrix)}};
    save_model_directory(model, {}, path_);
    const std::string first = read_file(path_ + "/weights.safetensors");
    const Model loaded = load_model(path_);
    const Tensor &before = model.weights.at("W"), &after = loaded.weights.at("W");
    EXPECT_EQ(after.dtype(), DType::qlog4);
    EXPECT_EQ(std::memcmp(before.bytes(), after.bytes(), before.size_bytes()), 0);
    save_model_directory(loaded, {}, path_);
    EXPECT_TRUE(read_file(path_ + "/weights.safetensors") == first) << "written again";
    return static_cast<double>(first.size());
  };
  EXPECT_GE(4.0 * 4096 * 256 / bytes(4), 7.85);
  EXPECT_GE(4.0 * 4096 * 256 / bytes(3), 10.4);
  EXPECT_GE(4.0 * 4096 * 256 / bytes(2), 15.4);
  EXPECT_GE(4.0 * 4096 * 256 / bytes(1), 29.8);
}

TEST_F(QuantizedModelDirectory, HoldsTheSameModel) {
  const Model loaded = load_model(path_);
  EXPECT_TRUE(same_graph(loaded.graph, quantized_.graph));
  for (const auto& [name, tensor] : quantized_.weights) {
    const Tensor& read = loaded.weights.at(name);
    ASSERT_EQ(read.dtype(), tensor.dtype()) << name;
    EXPECT_EQ(std::memcmp(read.bytes(), tensor.bytes(), tensor.size_bytes()), 0) << name;
  }
}

TEST_F(QuantizedModelDirectory, LeavesIntegersAsTheyAreInHalfPrecision) {
  save_model_directory(quantized_, {}, path_, {.half = true});
  const TensorMap stored = read_safetensors(path_ + "/weights.safetensors");
  EXPECT_EQ(stored.at("E").dtype(), DType::i8);
  EXPECT_EQ(stored.at("E.scale").dtype(), DType::f32);
  EXPECT_EQ(stored.at("x").dtype(), DType::f16);
}

TEST_F(QuantizedModelDirectory, RefusesNamesThatClash) {
  quantized_.weights.emplace("W.scale", numbers({4}));
  EXPECT_THAT([&] { save_model_directory(quantized_, {}, path_); },
              ThrowsMessage<Error>(AllOf(HasSubstr("'W'"), HasSubstr("'W.scale'"))));
}

TEST_F(QuantizedModelDirectory, RefusesMissingScales) {
  edit_weights([](TensorMap& tensors) { tensors.erase("W.scale"); });
  expect_refused(
      AllOf(HasSubstr("weight 'W' is i16, but the graph declares qint16"), HasSubstr("'W.scale'")));
}

TEST_F(QuantizedModelDirectory, RefusesScalesThatDoNotFit) {
  edit_weights([](TensorMap& tensors) { tensors.at("W.scale") = numbers({3}); });
  expect_refused(
      AllOf(HasSubstr("'W'"), HasSubstr("[3]"), HasSubstr("[4, 3] need f32 or bf16 of shape [4]")));
  edit_weights([](TensorMap& tensors) { tensors.at("W.scale") = Tensor(DType::f64, {4}); });
  expect_refused(HasSubstr("scales are f64"));
}

TEST_F(QuantizedModelDirectory, RefusesIntegersWithoutANegative) {
  edit_weights([](TensorMap& tensors) { tensors.at("E").mutable_data<std::int8_t>()[2] = -128; });
  expect_refused(AllOf(HasSubstr("'E'"), HasSubstr("holds -128")));
}

TEST_F(QuantizedModelDirectory, RefusesNibblesThatDoNotFit) {
  edit_weights([](TensorMap& tensors) { tensors.at("L") = Tensor(DType::u8, {5, 3}); });
  expect_refused(AllOf(HasSubstr("'L'"), HasSubstr("u8 of shape [5, 3]"),
                       HasSubstr("are u8 in 2, 2, 1 or 1 bytes each")));
  edit_weights([](TensorMap& tensors) { tensors.at("L") = Tensor(DType::u8, {4, 2}); });
  expect_refused(AllOf(HasSubstr("'L'"), HasSubstr("[5]"), HasSubstr("[4, 2] need f32 or bf16")));
  edit_weights([](TensorMap& tensors) { tensors.erase("L.scale"); });
  expect_refused(HasSubstr("'L'"));
}

TEST_F(QuantizedModelDirectory, RefusesNumbersBehindAVectorOfOddLength) {
  edit_weights([](TensorMap& tensors) { tensors.at("L").mutable_data<std::uint8_t>()[3] |= 0x80; });
  expect_refused(AllOf(HasSubstr("'L'"), HasSubstr("behind 3 numbers of 4 bits")));
}

TEST_F(QuantizedModelDirectory, LeavesBfloat16AsItIsInHalfPrecision) {
  save_model_directory(quantized_, {}, path_, {.half = true});
  EXPECT_EQ(load_model(path_).weights.at("B").dtype(), DType::bf16);
}

TEST_F(QuantizedModelDirectory, RefusesOtherIntegers) {
  edit_weights([](TensorMap& tensors) { tensors.at("E") = Tensor(DType::i16, {2, 3}); });
  expect_refused(HasSubstr("weight 'E' is qint16, but the graph declares qint8"));
}

TEST(LoadModel, RefusesWhatItDoesNotKnowByName) {
  const support::TemporaryFolder folder;
  const std::pair<std::string, std::string> cases[] = {{"model.bin", "truncated"},
                                                       {"graph.ir", "model directory"},
                                                       {"decoder.yml", "this is YAML"},
                                                       {"model.onnx", "no model format"}};
  for (const auto& [name, message] : cases) {
    const std::string path = folder / name;
    write_file_atomically(path, "x");
    EXPECT_THAT([&] { load_model(path); }, ThrowsMessage<Error>(HasSubstr(message)));
  }
  EXPECT_THAT([&] { load_model(folder / "none"); },
              ThrowsMessage<Error>(HasSubstr("No such file")));
  const support::TemporaryFolder empty;
  EXPECT_THAT([&] { load_model(empty / "."); }, ThrowsMessage<Error>(HasSubstr("config.json")));
}

}  // namespace
}  // namespace fuselage
